package peer

import (
	"github.com/libimpi/libimpi/transport/wire"
)

// Several clients under test are in one job, of one implementation or of different ones. What they say to each other is
// not seen; each is served as if it were alone, and the model goes on as if their messages had come. A label of a
// client's own invention is told to nobody else, so they speak IMPI 0.0 to each other.

// Further is another client under test than the first.
type Further struct {
	Rank  int // among the clients
	Procs int // its processes; 0: 1
}

// addFurther makes the jobs of further clients, of which the server's side is their own.
func (j *Job) addFurther() {
	for i, f := range j.Setup.Further {
		s := j.Setup
		s.Rank, s.Procs = f.Rank, max(f.Procs, 1)
		x := &Job{T: j.T, Setup: s, Clients: j.Clients, Labels: map[wire.Label][]byte{}, index: i + 1}
		x.current.Store(j.T)
		j.further = append(j.further, x)
	}
}

// tested are all clients under test, the first one first.
func (j *Job) tested() []*Job { return append([]*Job{j}, j.further...) }

// testedAt is the client under test with a rank, nil for one of the tester's.
func (j *Job) testedAt(client int) *Job {
	for _, x := range j.tested() {
		if x.Setup.Rank == client {
			return x
		}
	}
	return nil
}

// labelsOf is what a client under test has contributed, nil for one of the tester's.
func (j *Job) labelsOf(client int) map[wire.Label][]byte {
	if x := j.testedAt(client); x != nil {
		return x.Labels
	}
	return nil
}

// procsOf is how many processes a client under test has.
func (j *Job) procsOf(client int) int { return j.testedAt(client).Setup.Procs }

// processes is how many processes all clients under test have.
func (j *Job) processes() (n int) {
	for _, x := range j.tested() {
		n += x.Setup.Procs
	}
	return n
}
