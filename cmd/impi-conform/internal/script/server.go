package script

import (
	"net"
	"reflect"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
)

func serverFunctions() []function {
	return []function{
		{"start_server(clients, env = None, more = [])",
			"starts the server under test, with further words, and reads its address; env None: authentication by key",
			func(r *run, clients int, env []string, more []string) *peer.Server {
				return peer.StartServer(r.testing(), clients, env, more...)
			}},
		{"launch_server(clients, env = None, more = [])",
			"starts the server for a number of clients, a text that may be none, and waits for nothing; env None: " +
				"authentication by key",
			func(r *run, clients string, env *[]string, more []string) *peer.Server {
				e := target.KeyEnv()
				if env != nil {
					e = *env
				}
				return peer.LaunchServer(r.testing(), clients, e, more...)
			}},
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
