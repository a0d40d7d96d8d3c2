package script

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"regexp"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
)

// starting is the running case, for what starts a program.
func (r *run) starting() *conform.T {
	t := r.testing()
	if r.starts++; r.starts > maxStarts {
		panic(fmt.Errorf("a case starts at most %d programs", maxStarts))
	}
	return t
}

// environment reports what is wrong with variables. A script sets those of authentication and no others, by which it
// could tell a program to load or run something.
func environment(env []string) error {
	for _, v := range env {
		if name, _, ok := strings.Cut(v, "="); !ok || name != "IMPI_AUTH_KEY" && name != "IMPI_AUTH_NONE" {
			return fmt.Errorf("env: %q is neither IMPI_AUTH_KEY= nor IMPI_AUTH_NONE=", v)
		}
	}
	return nil
}

// options reports what is wrong with further words of the server: there are those of 2.2.1.
func options(more []string) error {
	for i, w := range more {
		if i%2 == 0 && w != "-port" && w != "-auth" {
			return fmt.Errorf("more: %q is neither -port nor -auth", w)
		}
	}
	return nil
}

// count is a number of clients, or a word that is none.
var count = regexp.MustCompile("^-?[0-9a-z]{0,6}$")

func launch(r *run, clients string, env *[]string, more []string) (*peer.Server, error) {
	e := target.KeyEnv()
	if env != nil {
		e = *env
	}
	if !count.MatchString(clients) {
		return nil, fmt.Errorf("clients: %q must be at most 6 digits or letters", clients)
	}
	if err := errors.Join(environment(e), options(more)); err != nil {
		return nil, err
	}
	return peer.LaunchServer(r.starting(), clients, e, more...), nil
}

func serverFunctions() []function {
	return []function{
		{"start_server(clients, env = None, more = [])",
			"starts the server under test, with further words, -port N and -auth LIST, and reads its address; env has " +
				"IMPI_AUTH_KEY=N and IMPI_AUTH_NONE=, None is the key",
			func(r *run, clients int, env, more []string) (*peer.Server, error) {
				if err := errors.Join(environment(env), options(more)); err != nil {
					return nil, err
				}
				return peer.StartServer(r.starting(), clients, env, more...), nil
			}},
		{"launch_server(clients, env = None, more = [])",
			"the same for a number of clients that may be none, a string, and waits for nothing", launch},
		{"either(a, b)", "of two connections of clients the server must close one; returns the other", peer.Either},
	}
}

func serverKind() *kind {
	type server = *peer.Server
	return &kind{Name: "server", About: "The server under test, to which we are all clients.",
		of: reflect.TypeFor[server](),
		Attributes: []attribute{
			{"address", "where it listens, text", func(s server) string { return s.Addr }, nil},
			{"stderr", "what it has written there, text", func(s server) string { return s.Main.Stderr() }, nil},
		},
		Methods: []function{
			{"dial()", "connects", server.Dial},
			{"connect()", "the same to a server that need not listen; None: it does not", func(s server) *peer.Member {
				m, err := s.Connect()
				if err != nil {
					return nil
				}
				return m
			}},
			{"dial_for_key()", "connects, offers the key, and takes the server's choice of it", server.DialForKey},
			{"join(rank)", "connects and joins as a client, without waiting for the others", server.Join},
			{"join_all(n)", "joins n clients, each of which takes their number; returns them", server.JoinAll},
			{"join_with(env)", "join_all(1) by a method that env enables", server.JoinWith},
			{"done(members)", "all say DONE, and take the answer", server.Done},
			{"fini(members)",
				"all, who have said DONE, take the answer, say FINI and are hung up on; the server ends well",
				server.Fini},
			{"finish(members)", "done(), and the rest of fini()", server.Finish},
			{"exit(ok)",
				"waits for its end: with exit code 0, or with another and a report; stdout has its address only",
				server.Exit},
		}}
}

func memberKind() *kind {
	type member = *peer.Member
	k := &kind{Name: "member", About: "A connection of a client of ours to the server.", of: reflect.TypeFor[member](),
		Attributes: []attribute{
			{"rank", "the client's, for messages; can be changed", func(m member) int { return m.Rank },
				func(m member, rank int) { m.Rank = rank }},
			{"address", "ours, text", func(m member) string { return m.LocalAddr().(*net.TCPAddr).IP.String() }, nil},
		},
		Methods: []function{
			{"say(*b)", "sends bytes; that the server may have hung up shows when it is read from",
				func(m member, b ...[]byte) { m.Say(b...) }},
			{"reads(b)", "takes exactly these bytes", func(m member, b []byte) { m.Reads(b) }},
			{"closed(why)", "the server must hang up without a byte", member.Closed},
			{"silent(why)", "the server must not have said anything", member.Silent},
		}}
	k.Methods = append(k.Methods, connectionMethods[member]()...)
	return k
}
