package pmi

import (
	"bufio"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/startup/manager"
)

// both are the two versions: their name, and what the environment has besides.
var both = []struct {
	name string
	set  []string
}{{"PMI-1", nil}, {"PMI-2", []string{"PMI_JOBID", "17.0"}}}

// converse is all that a process has to say.
func converse(env manager.Env) (err error) {
	m, err := Open(env)
	if err != nil {
		return err
	}
	defer m.Close()
	ctx := context.Background()
	if err := m.Put("card", "a-card"); err != nil {
		return err
	}
	if err := m.Fence(ctx); err != nil {
		return err
	}
	if v, err := m.Get(ctx, 3, "card"); err != nil || v != "a-card" {
		return errors.Join(err, errors.New("another card: "+v))
	}
	return m.Finalize(ctx)
}

func TestAJobIsJoinedInBothVersions(t *testing.T) {
	for _, v := range both {
		s := &server{limit: -1}
		m, err := Open(start(t, s, v.set...))
		if err != nil {
			t.Fatal(err)
		}
		want := manager.Identity{Rank: 3, Size: 7, Job: "kvs_17_0", AppNum: 2, Universe: 12, MaxValue: 1023}
		if v.name == "PMI-2" {
			want.Job = "17.0"
		}
		if m.Name() != v.name || m.Identity() != want {
			t.Errorf("%s: %+v, want %s, %+v", m.Name(), m.Identity(), v.name, want)
		}
		ctx := context.Background()
		if err := errors.Join(m.Put("card", "words-of-3"), m.Fence(ctx)); err != nil {
			t.Error(err)
		}
		if got, err := m.Get(ctx, 3, "card"); got != "words-of-3" || err != nil {
			t.Errorf("%s: %q, %v", v.name, got, err)
		}
		if got, err := m.Get(ctx, 4, "card"); err == nil || !strings.Contains(err.Error(), v.name) {
			t.Errorf("%s: %q, %v", v.name, got, err)
		}
		m.Watch(func(err error) { t.Errorf("%s is lost: %v", v.name, err) })
		if err := errors.Join(m.Finalize(ctx), m.Close()); err != nil {
			t.Error(err)
		}
		if <-s.done; s.kept["impi-card-3"] != "words-of-3" {
			t.Errorf("%s: it has kept %v", v.name, s.kept)
		}
	}
}

func TestAPortIsAskedWhoWeAre(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &server{limit: -1}
	go func() {
		s.conn, _ = l.Accept()
		s.run(t)
	}()
	m, err := Open(environment("PMI_PORT", l.Addr().String(), "PMI_ID", "3"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if id := m.Identity(); id.Rank != 3 || id.Size != 7 {
		t.Errorf("%+v", id)
	}
	if err := m.Finalize(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestNobodyIsFoundWithoutASocketOrAPort(t *testing.T) {
	if m, err := Open(environment("PMI_RANK", "0", "PMI_SIZE", "2")); m != nil || err != nil {
		t.Error(m, err)
	}
}

func TestAnEnvironmentThatCannotBeIsRefused(t *testing.T) {
	for _, tt := range []struct {
		set  []string
		want string
	}{
		{[]string{"PMI_FD", "x"}, "PMI_FD=x: not a descriptor"},
		{[]string{"PMI_FD", "-1"}, "not a descriptor"},
		{[]string{"PMI_FD", "0"}, "not the process manager's socket"},
		{[]string{"PMI_FD", "98765"}, "not the process manager's socket"},
		{[]string{"PMI_RANK", "many"}, "PMI_RANK=many"},
		{[]string{"PMI_SIZE", "many"}, "PMI_SIZE=many"},
		{[]string{"PMI_RANK", "7"}, "rank 7 of 7"},
		{[]string{"PMI_RANK", "-1"}, "rank -1 of 7"},
		{[]string{"PMI_SIZE", "0"}, "rank 3 of 0"},
		{[]string{"PMI_SIZE", "99999999"}, "rank 3 of 99999999"},
		{[]string{"PMI_FD", "", "PMI_PORT", "127.0.0.1:0"}, "PMI_PORT=127.0.0.1:0"},
	} {
		m, err := Open(start(t, &server{limit: -1}, tt.set...))
		if m != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, %v", tt.set, m, err)
		}
	}
}

func TestAnswersThatAreNoneAreErrorsWithTheCommandAndTheAnswer(t *testing.T) {
	one, two := both[0].set, both[1].set
	for _, tt := range []struct {
		set      []string
		cmd, say string
		want     []string
	}{
		{one, "init", "cmd=response_to_init pmi_version=9 pmi_subversion=0 rc=0\n", []string{"PMI, init", "version 9.0"}},
		{one, "init", "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=1\n", []string{"PMI, init", "rc=1"}},
		{one, "init", "cmd=response_to_init pmi_version=-1 rc=0\n", []string{"PMI, init", "pmi_version=-1"}},
		{one, "init", "cmd=maxes\n", []string{"PMI, init", `"cmd=maxes"`}},
		{one, "init", "what?\n", []string{"PMI, init", `"what?"`, "cmd="}},
		{one, "init", "\n", []string{"PMI, init", `""`}},
		{one, "init", "cmd=\n", []string{"PMI, init", `"cmd="`}},
		{one, "init", strings.Repeat("x", maxMessage+1) + "\n", []string{"PMI, init", "more than 65536 bytes"}},
		{one, "get_maxes", "cmd=maxes kvsname_max=256 keylen_max=4 vallen_max=1024\n", []string{"PMI-1, get_maxes", "max=4"}},
		{one, "get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1\n", []string{"PMI-1, get_maxes", "max=1"}},
		{one, "get_maxes", "cmd=maxes\n", []string{"PMI-1, get_maxes", `"cmd=maxes"`}},
		{one, "get_my_kvsname", "cmd=my_kvsname\n", []string{"PMI-1, get_my_kvsname", `"cmd=my_kvsname"`}},
		{one, "get_appnum", "cmd=appnum rc=-1 msg=not today\n", []string{"PMI-1, get_appnum", "rc=-1", `"not today"`}},
		{one, "put", "cmd=put_result rc=-1 msg=duplicate_key\n", []string{"PMI-1, put", "rc=-1", "duplicate_key"}},
		{one, "put", "cmd=get_result rc=0\n", []string{"PMI-1, put", "get_result"}},
		{one, "barrier_in", "cmd=barrier_out rc=1 msg=failed\n", []string{"PMI-1, barrier_in", `"failed"`}},
		{one, "get", "cmd=get_result rc=0 msg=success\n", []string{"PMI-1, get", "success"}},
		{one, "get", "cmd=get_result rc=0 found=FALSE value=x\n", []string{"PMI-1, get", "FALSE"}},
		{one, "finalize", "cmd=finalize_nak\n", []string{"PMI-1, finalize", "finalize_nak"}},
		{two, "fullinit", left("cmd=fullinit-response;rc=0;rank=2;size=7;"), []string{"PMI-2, fullinit", "rank=2"}},
		{two, "fullinit", left("cmd=fullinit-response;rc=0;rank=3;size=8;"), []string{"PMI-2, fullinit", "size=8"}},
		{two, "fullinit", left("cmd=fullinit-response;rc=14;errmsg=no;; never;"),
			[]string{"PMI-2, fullinit", "rc=14", `"no; never"`}},
		{two, "fullinit", "sixsix", []string{"PMI-2, fullinit", "length", `"sixsix"`}},
		{two, "fullinit", "   -12", []string{"PMI-2, fullinit", "length"}},
		{two, "fullinit", "999999", []string{"PMI-2, fullinit", "more than 65536 bytes"}},
		{two, "fullinit", left("what?"), []string{"PMI-2, fullinit", `"what?"`}},
		{two, "fullinit", left(""), []string{"PMI-2, fullinit", `""`}},
		{two, "job-getid", left("cmd=job-getid-response;rc=0;"), []string{"PMI-2, job-getid"}},
		{two, "info-getjobattr", left("cmd=job-getid-response;rc=0;"), []string{"PMI-2, info-getjobattr", "job-getid"}},
		{two, "kvs-put", left("cmd=kvs-put-response;rc=4;"), []string{"PMI-2, kvs-put", "rc=4"}},
		{two, "kvs-fence", left("cmd=kvs-fence-response;rc=-1;errmsg=gone;"), []string{"PMI-2, kvs-fence", "gone"}},
		{two, "kvs-get", left("cmd=kvs-get-response;rc=0;found=FALSE;"), []string{"PMI-2, kvs-get", "FALSE"}},
		{two, "finalize", left("cmd=kvs-get-response;rc=0;"), []string{"PMI-2, finalize", "kvs-get"}},
	} {
		err := converse(start(t, &server{limit: -1, instead: map[string]string{tt.cmd: tt.say}}, tt.set...))
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s answered %.80q: %v; it should say %q", tt.cmd, tt.say, err, want)
			}
		}
	}
}

func TestAManagerThatGoesAtAnyByteIsAnError(t *testing.T) {
	for _, v := range both {
		n := 0
		for ; ; n++ {
			s := &server{limit: n}
			err := converse(start(t, s, v.set...))
			if err == nil {
				break
			}
			if !errors.Is(err, errGone) && !errors.Is(err, errHalf) {
				t.Errorf("%s goes after %d bytes: %v", v.name, n, err)
			}
		}
		if n < 300 {
			t.Errorf("%s: all is well after %d bytes", v.name, n)
		}
	}
}

func TestAManagerThatDoesNotAnswerIsAnErrorWithTheTime(t *testing.T) {
	defer func(d time.Duration) { answerTime = d }(answerTime)
	answerTime = 10 * time.Millisecond
	for _, v := range both {
		for _, cmd := range []string{"init", "get_maxes", "put", "get", "fullinit", "kvs-put", "kvs-get"} {
			s := &server{limit: -1, instead: map[string]string{cmd: "-"}}
			err := converse(start(t, s, v.set...))
			s.conn.Close()
			if <-s.done; slices.Contains(s.heard, cmd) != (err != nil) ||
				err != nil && !strings.Contains(err.Error(), "has not answered within 10ms") {
				t.Errorf("%s, %s: %v", v.name, cmd, err)
			}
		}
	}
}

func TestAFenceEndsWithItsContext(t *testing.T) {
	for _, v := range both {
		s := &server{limit: -1, instead: map[string]string{"barrier_in": "-", "kvs-fence": "-"}}
		m, err := Open(start(t, s, v.set...))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("enough"))
		if err := m.Fence(ctx); err == nil || !strings.Contains(err.Error(), "enough") {
			t.Errorf("%s: %v", v.name, err)
		}
		m.Close()
	}
}

func TestWatchTellsThatTheManagerIsLost(t *testing.T) {
	for _, v := range both {
		s := &server{limit: -1}
		m, err := Open(start(t, s, v.set...))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		gone := make(chan error, 1)
		m.Watch(func(err error) { gone <- err })
		s.conn.Close()
		if err := <-gone; !errors.Is(err, errGone) {
			t.Errorf("%s: %v", v.name, err)
		}
		if err := m.Finalize(context.Background()); err == nil {
			t.Errorf("%s has ended in order", v.name)
		}
	}
}

func TestWhatTheManagerSaysUnaskedIsItsLoss(t *testing.T) {
	s := &server{limit: -1}
	m, err := Open(start(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	gone := make(chan error, 1)
	m.Watch(func(err error) { gone <- err })
	s.conn.Write([]byte("cmd=barrier_out\n"))
	if err := <-gone; !errors.Is(err, errUnasked) || !strings.Contains(err.Error(), "barrier_out") {
		t.Error(err)
	}
}

func TestAbortSaysTheCode(t *testing.T) {
	for _, v := range both {
		s := &server{limit: -1}
		m, err := Open(start(t, s, v.set...))
		if err != nil {
			t.Fatal(err)
		}
		m.Watch(func(error) {})
		if err := m.Abort(42, "because; of this\n"); err != nil {
			t.Error(err)
		}
		m.Close()
		if <-s.done; s.heard[len(s.heard)-1] != "abort" || s.code != "42" {
			t.Errorf("%s: it has heard %v, code %q", v.name, s.heard, s.code)
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{
		"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n", "cmd=get_result rc=-1 msg=no such key value=unknown\n",
		"cmd=initack\ncmd=set size=7\n", "cmd=\n", "=\n", "cmd=a  b=\n", "\n", "cmd=x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { holds(t, textLines, s) })
}

func FuzzFrames(f *testing.F) {
	for _, s := range []string{
		left("cmd=fullinit-response;rc=0;rank=3;size=7;"), "    24cmd=x;errmsg=a;;b;;;c=d;", "     0", "999999", "-1    ",
		"    12cmd=", left("cmd=x;;y=1;"), left(";;;"), left("=;="),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { holds(t, frames, s) })
}

// holds checks that what can be read of s is at most as long as s, and that what is written of it reads the same.
func holds(t *testing.T, as format, s string) {
	in := bufio.NewReader(strings.NewReader(s))
	for {
		text, err := as.read(in)
		if err != nil {
			return
		}
		a, err := as.parse(text)
		if err != nil {
			continue
		}
		if a.cmd == "" || len(a.text) > len(s) {
			t.Fatalf("%q: %+v", text, a)
		}
		var fields []string
		for _, f := range a.fields {
			fields = append(fields, f[0], f[1])
		}
		again, err := as.parse(body(as, as.write(a.cmd, fields...)))
		if err != nil || again.cmd != a.cmd {
			t.Fatalf("%q is written as %q, %v", text, again.text, err)
		}
	}
}

// body is a message without what stands around it.
func body(as format, written string) string {
	text, _ := as.read(bufio.NewReader(strings.NewReader(written)))
	return text
}
