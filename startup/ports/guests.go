package ports

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/tcp"
)

// guests is a mesh of transport/tcp as the engine sees it: in the mesh processes are called by their places among the
// participants, and here by the numbers that this process has given them.
//
//	Send: number -> place -> tcp.Host          tcp.Host.Poll -> place -> number -> Receiver.Deliver
//
// When the engine has parted from all of them, nobody calls the Host any more, and a goroutine ends its use in order.
// So it ends, and its descriptors are given back, whether the engine still polls or not.
type guests struct {
	host    *tcp.Host
	receive transport.Receiver
	placer  transport.Placer // receive, if it is one
	rank    int32            // this process's world rank
	me      int32            // and its place
	number  []int32          // by place; -1: no link
	place   map[int32]int32  // by number, of those that the engine has neither parted from nor lost
	live    []bool           // by place: the same
	addrs   []netip.AddrPort // by place, for errors
	out, in transport.Header // the packet being sent, being received

	parting int           // those from which the engine has parted, and whose end Reap may have to see to
	handed  bool          // to the goroutine
	gone    []atomic.Bool // by place: has parted, or is lost
	done    chan struct{} // closed when the goroutine has ended
	failed  error         // what Finish has answered there
	bell    Waker         // rung for gone; may be nil
	inside  bool          // a call of the Host that may deliver, or report a loss, is under way
}

// partTime bounds how long a process that has parted from all others waits for their parting. What it has sent has left
// long before.
const partTime = time.Minute

var (
	_ transport.Transport = (*guests)(nil)
	_ transport.Streamer  = (*guests)(nil)
	_ transport.Holder    = (*guests)(nil)
	_ transport.Shutter   = (*guests)(nil)
	_ transport.Gatherer  = (*guests)(nil)
	_ transport.Waker     = (*guests)(nil)
	_ transport.Finisher  = (*guests)(nil)
	_ transport.Parter    = (*guests)(nil)
	_ transport.Receiver  = (*guests)(nil)
	_ transport.Placer    = (*guests)(nil)
)

// newGuests is a transport that has no host yet. number has -1 for all but those whom the mesh connects with this
// process.
func newGuests(c *Config, r transport.Receiver, me int, number []int32, addrs []netip.AddrPort) *guests {
	g := &guests{receive: r, rank: c.Rank, bell: c.Bell, me: int32(me), number: number, addrs: addrs,
		place: map[int32]int32{}, live: make([]bool, len(number)), gone: make([]atomic.Bool, len(number)),
		done: make(chan struct{})}
	g.placer, _ = r.(transport.Placer)
	for i, n := range number {
		if n >= 0 {
			g.place[n], g.live[i] = int32(i), true
		}
	}
	return g
}

// Limits implements transport.Transport.
func (g *guests) Limits() transport.Limits { return g.host.Limits() }

// address makes g.out of a header. False: there is no link to that process any more, and the packet is dropped.
func (g *guests) address(h *transport.Header) bool {
	i, ok := g.place[h.Dst]
	if !ok {
		return false
	}
	g.out = *h
	g.out.Src, g.out.Dst = g.me, i
	return true
}

// Send implements transport.Transport.
func (g *guests) Send(h *transport.Header, payload []byte) bool {
	return !g.address(h) || g.host.Send(&g.out, payload)
}

// SendFrom implements transport.Transport.
func (g *guests) SendFrom(h *transport.Header, p transport.Packer) bool {
	return !g.address(h) || g.host.SendFrom(&g.out, p)
}

// Stream implements transport.Streamer.
func (g *guests) Stream(dst int32) int {
	if i, ok := g.place[dst]; ok {
		return g.host.Stream(i)
	}
	return 0
}

// SendLong implements transport.Streamer.
func (g *guests) SendLong(h *transport.Header, payload []byte) (taken int, ok bool) {
	if !g.address(h) {
		return h.Len, true
	}
	return g.host.SendLong(&g.out, payload)
}

// SendRest implements transport.Streamer.
func (g *guests) SendRest(dst int32, payload []byte) int {
	if i, ok := g.place[dst]; ok {
		return g.host.SendRest(i, payload)
	}
	return len(payload)
}

// Poll implements transport.Transport.
func (g *guests) Poll() bool {
	if g.handed || g.inside {
		return false
	}
	g.inside = true
	did := g.host.Poll()
	if g.parting > 0 && !g.handed {
		g.host.Reap()
	}
	g.leave()
	return did
}

// leave ends what has set inside. The engine may have parted from the last of all meanwhile, or have lost it.
func (g *guests) leave() {
	if g.inside = false; len(g.place) == 0 && !g.handed {
		g.hand(time.Now().Add(partTime))
	}
}

// Deliver takes a packet of the mesh.
func (g *guests) Deliver(h *transport.Header, payload []byte) {
	if g.named(h) {
		g.receive.Deliver(&g.in, payload)
	}
}

// named makes g.in of a header of the mesh. False: the engine has parted from its sender.
func (g *guests) named(h *transport.Header) bool {
	if !g.live[h.Src] {
		return false
	}
	g.in = *h
	g.in.Src, g.in.Dst = g.number[h.Src], g.rank
	return true
}

// Place implements transport.Placer.
func (g *guests) Place(h *transport.Header) []byte {
	if g.placer == nil || !g.named(h) {
		return nil
	}
	return g.placer.Place(&g.in)
}

// Lost takes the loss of a process of the mesh. One that the engine has parted from, or that has parted, is no loss.
func (g *guests) Lost(place int32, err error) {
	g.hasGone(place)
	if !g.live[place] {
		return
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause // what stands before it calls the process by its place
	}
	n := g.number[place]
	g.forget(n, place)
	g.receive.Lost(n, fmt.Errorf("the process at %v: %w", g.addrs[place], err))
}

// forget ends what a number stands for.
func (g *guests) forget(number, place int32) {
	delete(g.place, number)
	g.live[place] = false
	g.parting++
}

// Hold implements transport.Holder.
func (g *guests) Hold(_, peer int32, on bool) {
	if i, ok := g.place[peer]; ok {
		g.host.Hold(g.me, i, on)
	}
}

// Held implements transport.Holder.
func (g *guests) Held(_, peer int32) bool {
	i, ok := g.place[peer]
	return ok && g.host.Held(g.me, i)
}

// Shut implements transport.Shutter.
func (g *guests) Shut(_, peer int32, on bool) {
	i, ok := g.place[peer]
	if !ok {
		return
	}
	before := g.inside
	g.inside = true
	g.host.Shut(g.me, i, on)
	if !before {
		g.leave()
	}
}

// Cork implements transport.Gatherer, as do the following. A Host that has been handed over gathers nothing.
func (g *guests) Cork() {
	if !g.handed {
		g.host.Cork()
	}
}

func (g *guests) Uncork() {
	if !g.handed {
		g.host.Uncork()
	}
}

func (g *guests) Post() {
	if !g.handed {
		g.host.Post()
	}
}

func (g *guests) PostPaced() {
	if !g.handed {
		g.host.PostPaced()
	}
}

func (g *guests) Posted() bool { return !g.handed && g.host.Posted() }

func (g *guests) Settle() {
	if !g.handed {
		g.host.Settle()
	}
}

// Arm implements transport.Waker. Any thread may call it, also when the Host has been handed over: its watcher has
// ended or is about to.
func (g *guests) Arm() { g.host.Arm() }

// Part implements transport.Parter. With the last of them the Host is finished.
func (g *guests) Part(number int32) {
	i, ok := g.place[number]
	if !ok {
		return
	}
	g.forget(number, i)
	g.host.Part(i)
	if !g.inside {
		g.leave()
	}
}

// hand finishes the Host on a goroutine.
func (g *guests) hand(deadline time.Time) {
	g.handed = true
	go func() {
		defer close(g.done)
		g.failed = g.host.Finish(deadline)
		g.allGone()
	}()
}

// hasGone notes that there is nothing more to wait for from a process. Any thread may call it.
func (g *guests) hasGone(place int32) {
	if !g.gone[place].Swap(true) && g.bell != nil {
		g.bell.Wake()
	}
}

func (g *guests) allGone() {
	for i, n := range g.number {
		if n >= 0 {
			g.hasGone(int32(i))
		}
	}
}

// Parted implements transport.Parter. After Part it goes on to answer for the number; of one that is lost there is
// nothing to wait for, nor of one that is not known.
func (g *guests) Parted(number int32) bool {
	for i, n := range g.number {
		if n == number {
			return g.gone[i].Load() || !g.handed && g.host.Parted(int32(i))
		}
	}
	return true
}

// Finish implements transport.Finisher: it parts from all, and waits until they have parted, too.
func (g *guests) Finish(deadline time.Time) error {
	for n := range g.place {
		g.Part(n)
	}
	select {
	case <-g.done:
		return g.failed
	case <-time.After(time.Until(deadline)):
		return g.late()
	}
}

// late names those who have not parted in time.
func (g *guests) late() error {
	var errs []error
	for i, n := range g.number {
		if n >= 0 && !g.gone[i].Load() {
			errs = append(errs, fmt.Errorf("the process at %v has not finished in time", g.addrs[i]))
		}
	}
	return errors.Join(errs...)
}

// Abort implements transport.Finisher. Who has parted from all has nothing to abort.
func (g *guests) Abort() {
	if g.handed {
		return
	}
	g.handed = true
	clear(g.place)
	g.host.Abort()
	clear(g.live)
	g.allGone()
	close(g.done)
}
