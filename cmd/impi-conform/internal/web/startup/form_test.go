package startup

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/script"
)

// form reads a form given as names and values.
func form(words ...string) (f Form, problems string, ok bool) {
	m := map[string]string{}
	for i := 0; i < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	f, job, negotiated, ok := Read(func(name string) string { return m[name] })
	for _, x := range append(job, negotiated...) {
		problems += x.Problem
	}
	return f, problems, ok
}

// one is the case of a form.
func one(t *testing.T, words ...string) (c conform.Case, text string) {
	t.Helper()
	f, problems, ok := form(words...)
	if !ok {
		t.Fatalf("%v: %s", words, problems)
	}
	text = f.Script()
	list, err := script.Parse(File, text)
	if err != nil || len(list) != 1 || list[0].Name != Name {
		t.Fatalf("%v: %v, %d cases of\n%s", words, err, len(list), text)
	}
	return list[0], text
}

func TestAFormIsAScript(t *testing.T) {
	for _, x := range []struct {
		words []string
		needs conform.Needs
		has   []string
	}{
		{nil, conform.Client, []string{"rank = 0,", "procs = 1,", "others = [[1]] * 1,", "j.join()", "j.mesh()",
			"client 0 of 2 with 1 processes"}},
		{[]string{"clients", "0"}, conform.Client, []string{"others = [[1]] * 0,", "j.fini()"}},
		{[]string{"clients", "3", "hosts", "2", "procs", "4", "rank", "3", "own", "5", "auth", "none", "datalen", "100",
			"ackmark", "2", "hiwater", "4", "xsize", "0"}, conform.Values, []string{"rank = 3,", "procs = 5,",
			"others = [[4, 4]] * 3,", "datalen = 100,", "ackmark = 2,", "hiwater = 4,", "told = True,", "xsize = 0,",
			"maxlinear = 4,", `env = ["IMPI_AUTH_NONE="],`, "j.say(i32(AUTH_NONE, 0))"}},
		{[]string{"server", Implementation, "clients", "32", "hosts", "2", "procs", "3"}, conform.Server,
			[]string{"CLIENTS, HOSTS, PROCS = 32, 2, 3", "start_server(CLIENTS)", "C_COLL_XSIZE: i32(-1)"}},
		{[]string{"server", Implementation, "auth", "none", "xsize", "7"}, conform.Server,
			[]string{"auth(AUTH_NONE_MASK)", "C_COLL_XSIZE: i32(7)"}},
		{[]string{"server", Both, "rank", "1", "datalen", "100"}, conform.Both,
			[]string{"# Start-up only: the implementation runs the server, and we are all other clients.", "rank = 1,",
				"their_server = True,", "datalen = 100,", "j.join()", "j.mesh()"}},
	} {
		c, text := one(t, x.words...)
		if c.Needs != x.needs || c.File != File {
			t.Errorf("%v: got %+v", x.words, c)
		}
		for _, want := range x.has {
			if !strings.Contains(text, want) {
				t.Errorf("%v: there is no %q in\n%s", x.words, want, text)
			}
		}
	}
}

func TestNumbersThatDoNotFitAreRefused(t *testing.T) {
	for want, words := range map[string][]string{
		"from 0 to 32":                      {"clients", "33"},
		"Hosts of each must be a number":    {"hosts", "x"},
		"from 1 to 16":                      {"procs", "99999999999999999999"},
		"there are at most 32 clients":      {"clients", "32"},
		"below the number of all clients":   {"rank", "2"},
		"tester has at least one client":    {"server", Implementation, "clients", "0"},
		"the tester has at least":           {"server", Both, "clients", "0"},
		"by IMPI_AUTH_KEY":                  {"server", Both, "auth", "none"},
		"C_COLL_XSIZE is the default":       {"server", Both, "xsize", "7"},
		"the tester plays at most 64 hosts": {"clients", "20", "hosts", "8"},
		"must be at most H_HIWATER, 4":      {"hiwater", "4"},
		"C_TAGUB must be a number":          {"tagub", "5"},
	} {
		if _, problems, ok := form(words...); ok || !strings.Contains(problems, want) {
			t.Errorf("%v: %v, %q, must have %q", words, ok, problems, want)
		}
	}
}
