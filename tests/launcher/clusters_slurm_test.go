package launcher

import (
	"strings"
	"testing"
)

// Two partitions of a Slurm are two clusters: a job in each, and both are clients of one MPI_COMM_WORLD.

// partition starts a client by srun in a partition.
func (s *slurm) partition(t *testing.T, place, join, how string, do ...any) *job {
	t.Helper()
	return s.start(t, with(key, "IMPI_JOIN="+join), "srun", words(how, "-p", place, words(do...))...)
}

func TestTwoPartitionsOfSlurmAreTwoClusters(t *testing.T) {
	for name, machines := range map[string]*network{"one machine": nil, "machines": newNetwork(t, ipv4, slurmNodes+1)} {
		t.Run(name, func(t *testing.T) {
			s := newSlurm(t, machines)
			s.managers(t, func(t *testing.T, how string) { s.clusters(t, how) })
		})
	}
}

func (s *slurm) clusters(t *testing.T, how string) {
	for _, do := range [][]string{{reduce(t)}, words(traffic(t), few), words(program(t, "../rma/put_get"))} {
		srv, address := s.server(t)
		a := s.partition(t, "left", "0@"+address, how, "-N 1 -n 2", do)
		b := s.partition(t, "right", "1@"+address, how, "-N 2 -n 2", do)
		s.settled(t, a).expect(t, 0, "")
		s.settled(t, b).expect(t, 0, "")
		srv.wait().expect(t, 0, "")
	}
	if t.Failed() {
		return
	}
	srv, address := s.server(t)
	do := words(program(t, "misbehave"), "raise 2 9") // of the second
	a := s.partition(t, "left", "0@"+address, how, "-N 1 -n 2", do)
	b := s.partition(t, "right", "1@"+address, how, "-N 2 -n 2", do)
	if r := s.settled(t, a); r.code == 0 || !strings.Contains(r.stderr, "is lost") {
		t.Errorf("client 0: code %d, %s", r.code, r.stderr)
	}
	if r := s.settled(t, b); r.code == 0 {
		t.Errorf("client 1: code 0, %s", r.stderr)
	}
	srv.wait()
}

// server starts a server for two clients, where the controller is.
func (s *slurm) server(t *testing.T) (srv *job, address string) {
	t.Helper()
	s.inside(t, slurmNodes, func() { srv = startWith(t, with(key), words("-server 2 -host", s.address(slurmNodes))...) })
	srv.stdout.await("\n", 1)
	return srv, strings.TrimSpace(srv.stdout.String())
}
