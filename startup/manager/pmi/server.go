package pmi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

// Server is the manager's side of PMI-1, for processes of one machine: what another MPI library asks whoever has
// started it. It knows no spawning, and no names; an abort it leaves to whoever sees the process end.
//
//	s := NewServer(2, "job")
//	go s.Serve(conn0); go s.Serve(conn1) // the other ends are the processes' PMI_FD
type Server struct {
	size int
	name string

	mu      sync.Mutex
	kept    map[string]string
	waiting []io.Writer // processes that are in the barrier
}

// The sizes that the server tells, in bytes, NUL included, and holds processes to.
const (
	nameMax  = 256
	keyMax   = 64
	valueMax = 1024
	keysMax  = 64 // of one process
)

// NewServer makes a server of a job.
func NewServer(size int, name string) *Server {
	// All processes are on the one node of this launcher.
	return &Server{size: size, name: name,
		kept: map[string]string{"PMI_process_mapping": fmt.Sprintf("(vector,(0,1,%d))", size)}}
}

// Environment is what a process finds its manager by, which has the descriptor fd.
func Environment(fd, rank, size int) []string {
	return []string{envFD + "=" + strconv.Itoa(fd), envRank + "=" + strconv.Itoa(rank), envSize + "=" + strconv.Itoa(size)}
}

// Serve answers one process, until that ends the connection, which it closes, or breaks the rules.
func (s *Server) Serve(c net.Conn) error {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		text, err := readLine(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		q, err := parseLine(text)
		if err != nil {
			return err
		}
		said, over := s.answer(q, c)
		if _, err := io.WriteString(c, said); err != nil || over {
			return err
		}
	}
}

// answer is what is said at once; over: nothing more will be.
func (s *Server) answer(q answer, from io.Writer) (said string, over bool) {
	switch q.cmd {
	case "init":
		return writeLine("response_to_init", "pmi_version", "1", "pmi_subversion", "1", "rc", "0"), false
	case "get_maxes":
		return writeLine("maxes", "kvsname_max", strconv.Itoa(nameMax), "keylen_max", strconv.Itoa(keyMax),
			"vallen_max", strconv.Itoa(valueMax)), false
	case "get_appnum":
		return writeLine("appnum", "appnum", "0"), false
	case "get_my_kvsname":
		return writeLine("my_kvsname", "kvsname", s.name), false
	case "get_universe_size":
		return writeLine("universe_size", "size", strconv.Itoa(s.size)), false
	case "put":
		return s.put(q), false
	case "get":
		return s.get(q), false
	case "barrier_in":
		s.barrier(from)
		return "", false
	case "finalize":
		return writeLine("finalize_ack", "rc", "0"), true
	case "abort":
		return "", true
	}
	return writeLine(q.cmd+"_result", "rc", "-1", "msg", "unknown_command"), false
}

func (s *Server) put(q answer) string {
	key, _ := q.field("key")
	value, _ := q.field("value")
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == "" || len(key) >= keyMax || len(value) >= valueMax || len(s.kept) >= keysMax*s.size {
		return writeLine("put_result", "rc", "-1", "msg", "too_much")
	}
	s.kept[key] = value
	return writeLine("put_result", "rc", "0", "msg", "success")
}

func (s *Server) get(q answer) string {
	key, _ := q.field("key")
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.kept[key]
	if !ok {
		return writeLine("get_result", "rc", "-1", "msg", "key_not_found", "value", "unknown")
	}
	return writeLine("get_result", "rc", "0", "msg", "success", "value", value)
}

// barrier answers all processes when the last has come.
func (s *Server) barrier(from io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting = append(s.waiting, from); len(s.waiting) < s.size {
		return
	}
	for _, w := range s.waiting {
		io.WriteString(w, writeLine("barrier_out", "rc", "0")) // who is gone is somebody else's news
	}
	s.waiting = nil
}
