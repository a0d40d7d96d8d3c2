package pmi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/libimpi/libimpi/startup/manager"
)

// server is a manager of jobs of one process, which answers over a socket as the real ones do.
type server struct {
	conn    net.Conn
	limit   int               // bytes that it says before it closes the connection; negative: no limit
	instead map[string]string // by command: what it says instead of the answer, as it stands; "-": nothing, for ever
	heard   []string          // the commands
	kept    map[string]string // what was put
	done    chan struct{}     // closed when it has ended
	format  format
	code    string // of abort
}

// start starts one; env is what a process of its gets.
func start(t *testing.T, s *server, set ...string) (env manager.Env) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[0]), "server")
	defer f.Close()
	if s.conn, err = net.FileConn(f); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	return environment(append([]string{"PMI_FD", strconv.Itoa(fds[1]), "PMI_RANK", "3", "PMI_SIZE", "7"}, set...)...)
}

// environment has names and values by turns. A later value counts; "" is not set.
func environment(set ...string) manager.Env {
	vars := map[string]string{}
	for i := 0; i+1 < len(set); i += 2 {
		vars[set[i]] = set[i+1]
	}
	return func(name string) (string, bool) { return vars[name], vars[name] != "" }
}

func (s *server) run(t *testing.T) {
	s.kept, s.done, s.format = map[string]string{}, make(chan struct{}), textLines
	go s.serve()
	t.Cleanup(func() {
		s.conn.Close()
		<-s.done
	})
}

func (s *server) serve() {
	defer close(s.done)
	defer s.conn.Close()
	in := bufio.NewReader(s.conn)
	for {
		text, err := s.format.read(in)
		if err != nil {
			return
		}
		q, err := s.format.parse(text)
		if err != nil {
			return
		}
		s.heard = append(s.heard, q.cmd)
		said, ok := s.instead[q.cmd]
		switch {
		case said == "-":
			io.Copy(io.Discard, s.conn)
			return
		case !ok:
			said = s.answer(q)
		}
		if s.limit >= 0 && len(said) >= s.limit {
			io.WriteString(s.conn, said[:s.limit])
			return
		}
		s.limit -= min(max(s.limit, 0), len(said))
		if _, err := io.WriteString(s.conn, said); err != nil || strings.HasPrefix(q.cmd, "finalize") {
			return
		}
	}
}

// answer is what Hydra and Slurm say, in the order in which they say it.
func (s *server) answer(q answer) string {
	get := func(name string) string {
		v, _ := q.field(name)
		return v
	}
	switch q.cmd {
	case "initack":
		return "cmd=initack\ncmd=set size=7\ncmd=set rank=3\ncmd=set debug=0\n"
	case "init":
		if get("pmi_version") == "2" {
			s.format = frames
			return "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"
		}
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
	case "get_maxes":
		return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"
	case "get_appnum":
		return "cmd=appnum appnum=2\n"
	case "get_my_kvsname":
		return "cmd=my_kvsname kvsname=kvs_17_0\n"
	case "get_universe_size":
		return "cmd=universe_size size=12\n"
	case "put", "kvs-put":
		s.kept[get("key")] = get("value")
		if q.cmd == "put" {
			return "cmd=put_result rc=0 msg=success\n"
		}
		return left("cmd=kvs-put-response;rc=0;")
	case "get":
		if v, ok := s.kept[get("key")]; ok && get("kvsname") == "kvs_17_0" {
			return "cmd=get_result rc=0 msg=success value=" + v + "\n"
		}
		return "cmd=get_result rc=-1 msg=key_" + get("key") + "_not_found value=unknown\n"
	case "kvs-get":
		if v, ok := s.kept[get("key")]; ok {
			return left("cmd=kvs-get-response;rc=0;found=TRUE;value=" + v + ";")
		}
		return left("cmd=kvs-get-response;rc=0;found=FALSE;")
	case "barrier_in":
		return "cmd=barrier_out\n"
	case "kvs-fence":
		return left("cmd=kvs-fence-response;rc=0;")
	case "fullinit":
		return left("cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=" + get("pmirank") +
			";size=7;appnum=2;debugged=FALSE;pmiverbose=FALSE;")
	case "job-getid":
		return left("cmd=job-getid-response;rc=0;jobid=17.0;")
	case "info-getjobattr":
		return left("cmd=info-getjobattr-response;rc=0;found=TRUE;value=12;")
	case "abort":
		s.code = get("exitcode")
	case "finalize":
		if s.format.write("x") == textLines.write("x") {
			return "cmd=finalize_ack\n"
		}
		return left("cmd=finalize-response;rc=0;")
	}
	return ""
}

// left is a frame as Slurm makes it, with its length at the left.
func left(text string) string { return fmt.Sprintf("%-6d", len(text)) + text }
