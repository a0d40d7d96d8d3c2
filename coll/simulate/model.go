package simulate

// Time is a moment, or a span, of the virtual clock. A model chooses the unit: picoseconds, if the times are to be
// compared with those of a machine, or rounds.
type Time int64

// The units of models of machines.
const (
	Nanosecond  Time = 1000
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// A Model says what messages and work cost. It holds no state and may serve several runs at once.
type Model interface {
	// Route returns how a message of n bytes gets from one rank to another.
	Route(from, to int, n int64) Route
	// Copy and Combine are the times in which a rank copies, or combines, n bytes.
	Copy(n int64) Time
	Combine(n int64) Time
}

// A Route is what a message costs.
//
//	Overhead  the sender's processor is busy, before the message leaves
//	Occupied  a port of the sending side and one of the receiving side are taken; then the send is complete
//	Transit   from when the ports are taken until the message is received, which is not less than Occupied
type Route struct {
	Overhead, Occupied, Transit Time
	// Out and In are the places whose ports the message takes: ranks, or what several ranks share. Each has Ports in
	// either direction; 0 stands for as many as are asked for.
	Out, In, Ports int
	// Rendezvous says that the message does not leave before its receive has been started.
	Rendezvous bool
}

// Linear is the model of most papers (Traff 2010, 1.1): a message of n bytes takes Alpha + n*Beta, during which both
// sides are there, and each rank sends and receives at the same time, over as many ports as there are.
type Linear struct {
	Alpha, Beta Time // of a message, of a byte
	Ports       int  // 0: as many as are asked for
	Gamma       Time // combining a byte
	Delta       Time // copying a byte
}

// Route implements Model.
func (m Linear) Route(from, to int, n int64) Route {
	t := m.Alpha + Time(n)*m.Beta
	return Route{Occupied: t, Transit: t, Out: from, In: to, Ports: m.Ports, Rendezvous: true}
}

// Copy implements Model.
func (m Linear) Copy(n int64) Time { return Time(n) * m.Delta }

// Combine implements Model.
func (m Linear) Combine(n int64) Time { return Time(n) * m.Gamma }

// Rounds is the model in which a message takes one unit of time, and a rank sends one and receives one at a time. The
// time of an algorithm is then the number of its communication rounds.
var Rounds = Linear{Alpha: 1, Ports: 1}

// LogGP is the model of Alexandrov, Ionescu, Schauser and Scheiman (1995). The processor is busy for Overhead at either
// end, messages of one rank leave, and arrive, at least Gap apart, each byte after the first one takes ByteGap, and
// Latency is the network's. A message leaves whether its receiver is there or not.
type LogGP struct {
	Latency, Overhead, Gap, ByteGap Time
	Ports                           int
	Gamma, Delta                    Time
}

// Route implements Model.
func (m LogGP) Route(from, to int, n int64) Route {
	bytes := Time(max(n-1, 0)) * m.ByteGap
	return Route{Overhead: m.Overhead, Occupied: max(m.Gap, bytes), Transit: max(m.Gap, bytes) + m.Latency + m.Overhead,
		Out: from, In: to, Ports: m.Ports}
}

// Copy implements Model.
func (m LogGP) Copy(n int64) Time { return Time(n) * m.Delta }

// Combine implements Model.
func (m LogGP) Combine(n int64) Time { return Time(n) * m.Gamma }

// Level is how messages travel on one floor of a Hierarchy.
type Level struct {
	// Span is how many ranks share the ports of one place: 1 of a rank, those of a machine, those of a cluster.
	Span int
	// A message takes a port for Gap, or for ByteGap times its bytes if that is more, and arrives Latency later.
	Latency, Gap, ByteGap Time
	Ports                 int
	// Eager is the longest message that does not wait for its receive.
	Eager int64
}

// Hierarchy has ranks in machines, machines in clusters, and clusters that a WAN connects. Levels stand in this order.
// A message takes ports of the level at which its two sides first are in the same place: inside machines those of the
// ranks, between machines those of the machines, between clusters those of the clusters.
type Hierarchy struct {
	Levels       []Level
	Overhead     Time
	Gamma, Delta Time
}

// Route implements Model.
func (m Hierarchy) Route(from, to int, n int64) Route {
	i := 0
	for i+1 < len(m.Levels) && from/m.Levels[i+1].Span != to/m.Levels[i+1].Span {
		i++
	}
	l := &m.Levels[i]
	// Places are numbered through: place x of level i is x*levels + i.
	place := func(r int) int { return r/l.Span*len(m.Levels) + i }
	t := max(l.Gap, Time(n)*l.ByteGap)
	return Route{Overhead: m.Overhead, Occupied: t, Transit: t + l.Latency + m.Overhead, Out: place(from), In: place(to),
		Ports: l.Ports, Rendezvous: n > l.Eager}
}

// Copy implements Model.
func (m Hierarchy) Copy(n int64) Time { return Time(n) * m.Delta }

// Combine implements Model.
func (m Hierarchy) Combine(n int64) Time { return Time(n) * m.Gamma }

// Seated is a model whose ranks have other seats: rank r is where the model has rank Seats[r].
type Seated struct {
	Model
	Seats []int
}

// Route implements Model.
func (m Seated) Route(from, to int, n int64) Route {
	return m.Model.Route(m.Seats[from], m.Seats[to], n)
}
