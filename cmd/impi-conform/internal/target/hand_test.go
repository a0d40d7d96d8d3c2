package target

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/control"
)

func TestAPlaceIsAnAddressThatOthersCanReach(t *testing.T) {
	for _, x := range []struct {
		at, ports string
		want      string // the error has it; "": there is none
		low, top  uint16
	}{
		{"10.0.0.1", "", "", 0, 0},
		{"10.0.0.1:5000", "", "", 5000, 65535},
		{"fd00::1", "6000-6010", "", 6000, 6010},
		{"[fd00::1]:5000", "", "", 5000, 65535},
		{"0.0.0.0", "", "no address that others can connect to", 0, 0},
		{"[::]:5000", "", "no address that others can connect to", 0, 0},
		{"::ffff:0.0.0.0", "", "no address that others can connect to", 0, 0},
		{":5000", "", "is no address", 0, 0},
		{"example.org", "", "is no address", 0, 0},
		{"10.0.0.1", "6010-6000", "no range", 0, 0},
		{"10.0.0.1", "0-6000", "no range", 0, 0},
		{"10.0.0.1", "6000", "no range", 0, 0},
		{"10.0.0.1:5000", "6000-6010", "one port", 0, 0},
	} {
		p, err := ParsePlace(x.at, x.ports)
		switch {
		case x.want == "" && (err != nil || p.Low != x.low || p.Top != x.top):
			t.Errorf("%s %s: %+v, %v", x.at, x.ports, p, err)
		case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)):
			t.Errorf("%s %s: %v, must have %q", x.at, x.ports, err, x.want)
		}
	}
}

func TestAllListensAtThePlaceWithinItsPorts(t *testing.T) {
	place, err := ParsePlace("127.0.0.1", "")
	if err != nil {
		t.Fatal(err)
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	place.Low = uint16(busy.Addr().(*net.TCPAddr).Port)
	place.Top = place.Low
	at := &Target{place: place}
	if _, err := at.Listen("127.0.9.9:0"); err == nil {
		t.Error("a port that is in use is used again")
	}
	busy.Close()
	l, err := at.Listen("127.0.9.9:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Addr().String() != busy.Addr().String() {
		t.Errorf("it listens at %v, must be %v", l.Addr(), busy.Addr())
	}
}

func TestAPortIsUsedAgainAsLateAsPossible(t *testing.T) {
	p := &Place{Low: 65534, Top: 65535}
	for _, want := range []uint16{65534, 65535, 65534} {
		if got := p.port(); got != want {
			t.Errorf("port %d, must be %d", got, want)
		}
	}
}

// asked makes a target by hand whose prompts are passed on, and answered with an error.
func asked(t *testing.T, server, client string) (*Target, chan Prompt) {
	t.Helper()
	place, _ := ParsePlace("127.0.0.1", "")
	prompts := make(chan Prompt, 1)
	at, err := NewByHand(server, client, "", "./player", place, func(ctx context.Context, p Prompt) (string, error) {
		prompts <- p
		<-ctx.Done()
		return "", ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(at.Close)
	return at, prompts
}

func TestAPromptIsReadyToBeTyped(t *testing.T) {
	at, prompts := asked(t, "impirun -server {clients}", Templates["lam"].Client)
	players := at.Control.Job(3, control.Handler{})
	p, err := at.Client(Client{Rank: 1, Server: "10.0.0.1:5000", N: 3, Env: []string{"A=", "B=it's $5"}, Players: players})
	if err != nil {
		t.Fatal(err)
	}
	want := `A='' B='it'\''s $5' mpirun -client 1 10.0.0.1:5000 -np 3 -x IMPI_AUTH_KEY ./player -- ` +
		strings.Join(players.Arguments(), " ")
	if got := <-prompts; got.Command != want || got.What != "client 1" || got.Answer != "" {
		t.Errorf("got %+v, want %s", got, want)
	}
	p.Connected()
	p.GivesUp(func(err error) { t.Errorf("who has connected gives up: %v", err) })
	if _, err := p.Answer(t.Context()); err != nil {
		t.Error(err)
	}
	p.Kill()
	if _, err := at.Server("2", KeyEnv()); err != nil {
		t.Fatal(err)
	}
	if got := <-prompts; got.Command != "IMPI_AUTH_KEY=5678 impirun -server 2" || got.Answer == "" {
		t.Errorf("got %+v", got)
	}
}

func TestWhoGivesUpSaysSo(t *testing.T) {
	at, _ := asked(t, "impirun -server {clients}", "")
	enough := errors.New("enough")
	at.Ask = func(context.Context, Prompt) (string, error) { return "", enough }
	p, err := at.Server("2", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	p.GivesUp(func(err error) { got <- err })
	if err := <-got; err != enough {
		t.Errorf("got %v", err)
	}
	seen := true
	p.Unseen = func() { seen = false }
	if p.Stderr() != "" || seen {
		t.Error("what is not seen is empty, and nobody is told")
	}
}

func TestATemplateIsFoundByNameOrTextAndRemembered(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if got, err := Recall(); got != Templates["libimpi"] || err != nil {
		t.Errorf("without a file: %+v, %v", got, err)
	}
	lam, err := FindTemplate("lam")
	if err != nil || lam != Templates["lam"] {
		t.Errorf("got %+v, %v", lam, err)
	}
	if _, err := FindTemplate("openmpi"); err == nil {
		t.Error("a name that is not known is a template")
	}
	own, err := FindTemplate("run {rank} {server} {n} {prog}")
	if err != nil || own.Client != "run {rank} {server} {n} {prog}" || own.Server != "" {
		t.Errorf("got %+v, %v", own, err)
	}
	if err := Remember(own); err != nil {
		t.Fatal(err)
	}
	if got, err := Recall(); got != own || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	path, err := remembered()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Recall(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is broken: %v", err)
	}
}
