package script

import (
	"bytes"
	"fmt"
	"net"
	"reflect"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

func jobKind() *kind {
	return &kind{Name: "job", About: "A job with the client under test, to which we are the server and all others. " +
		"`src` and `dst` are ranks in MPI_COMM_WORLD; what waits, waits until the case's deadline.",
		of:         reflect.TypeFor[*peer.Job](),
		Attributes: jobAttributes(), Methods: slices.Concat(startMethods(), meshMethods(), messageMethods(), endMethods())}
}

func jobAttributes() []attribute {
	return []attribute{
		{"clients", "how many there are", func(j *peer.Job) int { return j.Clients }, nil},
		{"hosts", "all hosts, by number", func(j *peer.Job) []peer.Host { return j.Hosts }, nil},
		{"procs", "all processes, by rank in MPI_COMM_WORLD", func(j *peer.Job) []peer.Proc { return j.Procs }, nil},
		{"datalen", "IMPI_Pk_maxdatalen, bytes", func(j *peer.Job) uint32 { return j.DataLen }, nil},
		{"own_datalen", "C_DATALEN of the client under test, bytes", func(j *peer.Job) uint32 { return j.Own }, nil},
		{"ackmark", "the negotiated one, packets; can be changed", func(j *peer.Job) uint32 { return j.AckMark },
			func(j *peer.Job, n uint32) { j.AckMark = n }},
		{"hiwater", "the negotiated one, packets; can be changed", func(j *peer.Job) uint32 { return j.HiWater },
			func(j *peer.Job, n uint32) { j.HiWater = n }},
		{"done_data", "the payload of the server's DONE, bytes; can be changed",
			func(j *peer.Job) []byte { return j.DoneData },
			func(j *peer.Job, b []byte) { j.DoneData = b }},
	}
}

// startMethods are the server's side (2.3).
func startMethods() []function {
	type job = *peer.Job
	return []function{
		{"accept()", "waits for the client's connection to the server", job.Accept},
		{"expect(cmd)", "takes the client's next command, which must be this one; returns it",
			func(j job, cmd int32) codec.Cmd {
				return j.Expect(wire.Command(cmd))
			}},
		{"command()", "takes the client's next command, None if it has hung up", func(j job) *codec.Cmd {
			c, err := codec.ReadCmd(j.Server(), 1<<20)
			if err != nil {
				return nil
			}
			return &c
		}},
		{"raw(size)", "takes bytes that are no command", func(j job, n size) []byte { return j.Raw(int(n)) }},
		{"say(b)", "sends bytes to the client as the server", job.Say},
		{"hang_up()", "ends the server's connection to the client", func(j job) { j.Server().Close() }},
		{"slowly()", "from now on the server sends each byte in a packet of its own", job.Slowly},
		{"authenticate()", "accepts the client, and lets it prove itself by the key (2.3.3)", job.Authenticate},
		{"read_rank()", "takes IMPI with the client's rank (2.3.4)", job.ReadRank},
		{"join()", "authenticate(), read_rank(), and the answer", job.Join},
		{"submit(label)", "takes what the client contributes to a label, which must be the next",
			func(j job, l uint32) {
				j.Submit(wire.Label(l))
			}},
		{"exchange()", "takes and broadcasts all labels, then DONE (2.3.5, 2.3.6)", job.Exchange},
		{"exchange_until(label)", "exchange(), up to a label and not with it",
			func(j job, l uint32) { j.ExchangeUntil(wire.Label(l)) }},
		{"resume(label)", "broadcasts a label that was submitted, and goes on with the exchange",
			func(j job, l uint32) { j.Resume(wire.Label(l)) }},
		{"label(label)", "what the client has contributed to a label, bytes; None: nothing yet",
			func(j job, l uint32) *[]byte {
				b, ok := j.Labels[wire.Label(l)]
				if !ok {
					return nil
				}
				return &b
			}},
		{"refused()", "the client was told something impossible: it must hang up without FINI, and end badly",
			job.Refused},
		{"server_silent()", "the client must not have said anything to the server since", job.ServerSilent},
		{"line(rank, text)", "waits until a rank has written a line", job.Line},
		{"said(rank, text)", "whether a rank has written a line", job.Said},
		{"times(rank, text)", "how often a rank has written a line", job.Times},
		{"go()", "ends the player's step `compute`", job.Go},
	}
}

// messageMethods are about packets and messages (chapter 3).
func messageMethods() []function {
	type job = *peer.Job
	return []function{
		{"message(src, dst, tag, size)",
			"takes a whole message of the player's in MPI_COMM_WORLD, which must be next from src to dst: so many bytes of " +
				"the pattern. In a manual job, its first packet",
			func(j job, src, dst, tag int, n size) peer.Packet {
				return j.Message(src, dst, tag, int(n))
			}},
		{"take(src, dst)", "takes the next packet from src to dst, in a job that is not manual the next message",
			job.Take},
		{"take_type(type, src, dst)", "take(), and it must be of this type", job.TakeType},
		{"data(src, dst, tag, size)",
			"the first packet of a message of ours in MPI_COMM_WORLD, with the pattern: DATASYNC if it is longer than a " +
				"packet, otherwise DATA. It is not sent yet",
			func(j job, src, dst, tag int, n size) codec.Packet {
				return j.Data(src, dst, tag, int(n))
			}},
		{"send(packet)", "sends a packet of ours when the window of its pair has room", job.Send},
		{"control(type, src, dst, srqid = 0, drqid = 0)", "sends a packet without user data",
			func(j job, kind uint32, src, dst int,
				srqid, drqid uint64) {
				j.Control(kind, src, dst, srqid, drqid)
			}},
		{"send_message(src, dst, tag, data, lsrank = None, cid = 0)",
			"sends a whole message, short or long; lsrank None is src. If it is long, waits for its SYNCACK", sendMessage},
		{"synced(srqid)", "waits for the SYNCACK of a message of ours, returns its drqid; not in a manual job",
			job.Synced},
		{"send_rest(first, drqid, data, chunk)", "sends the rest of a long message in packets of at most chunk bytes",
			sendRest},
		{"acks(src, dst, n)", "waits until the client has acknowledged n ackmarks of packets from src, ours, to dst",
			job.Acks},
		{"arrived(src, dst, n)", "waits until n packets that count have come from src to dst, since the start",
			job.Arrived},
		{"acknowledge(src, dst)", "sends a PROTOACK from src, ours, to dst", job.Acknowledge},
		{"auto_acks()", "in a job with no_acks: acknowledges what is due, and from now on at once", job.AutoAcks},
		{"sent(src, dst, n)", "counts n packets that were sent by other means, link.write()", job.Sent},
		{"goes_on()", "waits until the client has sent something to be taken, or ended; returns its exit code and whether " +
			"it has ended", job.GoesOn},
		{"ours(rank)", "whether a process is one of the tester's", job.Ours},
		{"comm(ranks = None, cid = 0)",
			"a communicator of these ranks in MPI_COMM_WORLD, in its order, with a point-to-point context id; None: " +
				"all", newComm},
		{"play_inter(a, b, cid, messages)",
			"takes part in a collective of an intercommunicator of two groups of world ranks: sends our messages as soon as " +
				"they could be, and takes the client's", playInter},
	}
}

func sendMessage(j *peer.Job, src, dst int, tag int32, data []byte, lsrank *int32, cid uint64) {
	rank := int32(src)
	if lsrank != nil {
		rank = *lsrank
	}
	j.SendMessage(src, dst, rank, tag, cid, data)
}

func sendRest(j *peer.Job, first codec.Packet, drqid uint64, rest []byte, chunk int) error {
	if chunk < 1 {
		return fmt.Errorf("chunk is %d, must be at least 1", chunk)
	}
	j.Continue(first, drqid, rest, chunk)
	return nil
}

// endMethods are the end of a job (2.4, 3.8).
func endMethods() []function {
	type job = *peer.Job
	return []function{
		{"finish()",
			"the orderly end: the barrier of MPI_Finalize, FINI in both directions on every socket, the end of all " +
				"connections, FINI to the server, exit code 0", job.Finish},
		{"await_fini()", "waits for FINI on every socket; nothing else may be left to take", job.AwaitFini},
		{"say_fini()", "sends FINI on every socket", job.SayFini},
		{"await_end()", "waits for the end of every socket", job.AwaitEnd},
		{"fini()", "takes the client's FINI to the server, and hangs up", job.Fini},
		{"end()", "await_end(), fini(), exit(0)", job.End},
		{"exit(code)", "waits for the client's end, with this exit code", job.Exit},
		{"exit_badly()",
			"waits for the client's end, with another exit code than 0, a message on stderr, and no crash",
			job.ExitBadly},
		{"heard_fini()", "whether any host has sent FINI", job.HeardFini},
	}
}

// meshMethods are about the sockets between hosts (2.3.8).
func meshMethods() []function {
	type job = *peer.Job
	return []function{
		{"mesh()", "connects every host of ours with every host of the client: the higher connects and says its rank",
			job.Mesh},
		{"dial(ours, theirs)",
			"connects to a host of the client, from the address of host ours, -1: from another. It says nothing yet",
			job.Dial},
		{"dial_early(ours, theirs)",
			"the same before the exchange has ended, to the port that the client has submitted as its first; None: nobody " +
				"listens", func(j job, ours, theirs int) *events.Conn {
				at := &net.TCPAddr{IP: net.IP(j.Labels[wire.HIPv6][:16]), Port: int(codec.GetU32(j.Labels[wire.HPort]))}
				c, err := j.DialEarly(ours, theirs, at)
				if err != nil {
					return nil
				}
				return c
			}},
		{"connect(ours, theirs)", "dial(), and says the host's rank", job.Connect},
		{"adopt(ours, theirs, connection)",
			"makes a connection on which the rank has been said the socket between two hosts", job.Adopt},
		{"either(ours, theirs, connections)",
			"of two connections between the same hosts one must be closed; the other is the socket",
			func(j job, ours, theirs int, c []*events.Conn) error {
				if len(c) != 2 {
					return fmt.Errorf("connections: there are %d, must be two", len(c))
				}
				j.Either(ours, theirs, [2]*events.Conn(c))
				return nil
			}},
		{"knocks(host)", "whether a connection waits at a host of ours that was not accepted", job.Knocks},
		{"link(ours, theirs)", "the socket between two hosts, by their numbers; None: there is none", job.Link},
		{"link_of(src, dst)", "the socket between the hosts of two processes, the first of which is ours", job.LinkOf},
		{"links()", "all sockets, in no order", job.Links},
	}
}

func processKind() *kind {
	return &kind{Name: "process", About: "A process.", of: reflect.TypeFor[peer.Proc](), Attributes: []attribute{
		{"name", "its name in packets, 24 bytes", func(p peer.Proc) []byte { return nameOf(p.ID) }, nil},
		{"host", "the number of its host", func(p peer.Proc) int { return p.Host }, nil},
		{"client", "the rank of its client", func(p peer.Proc) int { return p.Client }, nil},
	}}
}

func hostKind() *kind {
	return &kind{Name: "host", About: "A host.", of: reflect.TypeFor[peer.Host](), Attributes: []attribute{
		{"client", "the rank of its client", func(h peer.Host) int { return h.Client }, nil},
		{"procs", "how many processes it has", func(h peer.Host) int { return h.N }, nil},
		{"address", "where it listens, text", func(h peer.Host) string { return h.Addr }, nil},
	}}
}

func linkKind() *kind {
	type link = *peer.Link
	return &kind{Name: "link", About: "The socket between two hosts. Every packet that comes is checked (chapter 3).",
		of: reflect.TypeFor[link](),
		Attributes: []attribute{{"address", "the client's, 16 bytes", func(l link) []byte {
			return l.Conn.RemoteAddr().(*net.TCPAddr).IP.To16()
		}, nil}},
		Methods: []function{
			{"write(b)", "sends bytes, whatever they are; returns whether the client has taken them",
				func(l link, b []byte) bool {
					return l.Bytes(b) == nil
				}},
			{"flood(packet, thousands)",
				"sends a packet so many thousand times, regardless of the window; returns whether the client has taken all of " +
					"them", flood},
			{"cut()", "ends it: what comes from now on is not held against the client", link.Cut},
			{"reset()", "the same by a TCP reset", link.Reset},
			{"ignore()", "holds nothing that comes from now on against the client", link.Ignore},
			{"pause(receive_buffer)",
				"does not read what comes, with a receive buffer of so many bytes; returns the function that goes on",
				pause},
		}}
}

func flood(l *peer.Link, p codec.Packet, thousands int) (bool, error) {
	if thousands < 0 || thousands > 1000 {
		return false, fmt.Errorf("thousands is %d, must be at most 1000", thousands)
	}
	if len(p.Data) > maxBytes/2000 {
		return false, fmt.Errorf("a packet of %d bytes, must be at most %d", len(p.Data), maxBytes/2000)
	}
	many := bytes.Repeat(p.Bytes(), 1000)
	for range thousands {
		if l.Bytes(many) != nil {
			return false, nil
		}
	}
	return true, nil
}
