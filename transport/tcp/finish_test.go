package tcp

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// finishing calls Finish on a goroutine.
func finishing(e *engine, within time.Duration) chan error {
	done := make(chan error, 1)
	go func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		done <- e.host.Finish(time.Now().Add(within))
	}()
	return done
}

func finiPacket() []byte {
	b := make([]byte, wire.PacketSize)
	wire.Packet(b).SetType(wire.PkFini)
	return b
}

func TestHostsThatFinishTogetherPart(t *testing.T) {
	es := connect(t, layout{{1, 1}, {2}, {1}}, nil, Options{})
	for j := range 10 { // unread when the end comes
		es[2].put(t, transport.Header{Kind: transport.Data, Src: 2, Dst: int32(j % 2)}, "unmatched")
		es[3].put(t, transport.Header{Kind: transport.Data, Src: 4, Dst: int32(j % 2)}, "unmatched")
	}
	var wg sync.WaitGroup
	for i, e := range es {
		wg.Go(func() {
			if err := <-finishing(e, patience); err != nil {
				t.Errorf("host %d: %v", i, err)
			}
			if len(e.lost) > 0 || e.host.Poll() || e.host.Finish(time.Now()) != nil {
				t.Errorf("host %d: not quiet after the end: %v", i, e.lost)
			}
			<-e.host.watch.done
		})
	}
	wg.Wait()
}

func TestUntilThePeersFiniItsMessagesAreAnswered(t *testing.T) {
	e, f := against(t, marked(2, 2), Options{})
	done := finishing(e, patience)
	if p := f.want(wire.PkFini); strings.Trim(string(p[4:]), "\x00") != "" {
		t.Errorf("FINI with more than a type: %x", p)
	}
	acks, answers := 0, 0
	hear := func() {
		p, _ := f.hear()
		switch p.Type() {
		case wire.PkProtoAck:
			acks++
		case wire.PkSyncAck, wire.PkCancelNo:
			if answers++; p.SrqID() != uint64(answers) {
				t.Errorf("answer %d is for %d", answers, p.SrqID())
			}
			if answers%2 == 0 {
				f.send(transport.Header{Kind: transport.ProtoAck, Src: 2, Dst: 0}, "")
			}
		default:
			t.Fatalf("packet of type %d after FINI", p.Type())
		}
	}
	const rounds = 100
	id := uint64(0)
	for range rounds {
		f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "eager")
		f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "eager")
		id++
		f.send(transport.Header{Kind: transport.DataSync, Src: 2, Dst: 0, SrqID: id, MsgLen: 1 << 50}, "long")
		id++
		f.send(transport.Header{Kind: transport.Cancel, Src: 2, Dst: 0, SrqID: id}, "")
		for range 4 {
			hear()
		}
	}
	if acks != 2*rounds || answers != 2*rounds {
		t.Errorf("%d acknowledgements and %d answers, want %d and %d", acks, answers, 2*rounds, 2*rounds)
	}
	junk := finiPacket()
	for i := 4; i < len(junk); i++ {
		junk[i] = 0xff
	}
	f.say(junk)
	f.say(finiPacket()) // a second one is ignored
	f.c.SetReadDeadline(time.Now().Add(patience))
	if n, err := f.c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after both FINIs: %d bytes, %v; want the end of the stream", n, err)
	}
	f.c.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(e.got) != 0 {
		t.Errorf("%d packets delivered after the end", len(e.got))
	}
}

func TestAPeerMayFinishFirstAndCloseAtOnce(t *testing.T) {
	e, f := against(t, nil, Options{})
	f.say(finiPacket())
	e.until(t, "FINI", func() bool { return e.host.links[1].fini })
	e.put(t, transport.Header{Kind: transport.Data, Src: 0, Dst: 2}, "late")
	f.want(wire.PkData)
	done := finishing(e, patience)
	f.want(wire.PkFini)
	f.c.Close()
	if err := <-done; err != nil || len(e.lost) != 0 {
		t.Errorf("%v, lost %v", err, e.lost)
	}
}

func TestAFiniThatArrivedCountsThoughWritingFails(t *testing.T) {
	e, f := against(t, nil, Options{})
	f.say(finiPacket())
	f.c.SetLinger(0)
	f.c.Close() // a reset: what we write from now on fails
	e.until(t, "failing write", func() bool {
		e.host.Send(&transport.Header{Kind: transport.Data, Src: 0, Dst: 2}, nil)
		return e.host.links[1].closed()
	})
	if err := <-finishing(e, patience); err != nil || len(e.lost) != 0 {
		t.Errorf("%v, lost %v", err, e.lost)
	}
}

func TestAFiniInTheReceiveBufferSurvivesAFailedWrite(t *testing.T) {
	e, f := against(t, nil, Options{})
	f.say(finiPacket())
	e.host.breakOff(e.host.links[1], errors.New("made up"))
	f.c.CloseWrite()
	if err := <-finishing(e, patience); err != nil || len(e.lost) != 0 {
		t.Errorf("%v, lost %v", err, e.lost)
	}
}

func TestAPeerThatVanishesDuringTheEndIsReported(t *testing.T) {
	for name, leave := range map[string]func(f *fake){
		"closes": func(f *fake) { f.want(wire.PkFini); f.c.Close() },
		"resets": func(f *fake) { f.c.SetLinger(0); f.c.Close() },
		"breaks": func(f *fake) { f.say([]byte{0, 0, 0, 9}); f.say(make([]byte, 124)) },
	} {
		e, f := against(t, nil, Options{})
		done := finishing(e, patience)
		leave(f)
		if err := <-done; err == nil || !strings.Contains(err.Error(), "host 1 (client 1, ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPeerThatDoesNotFinishIsReportedAtTheDeadline(t *testing.T) {
	e, f := against(t, nil, Options{})
	done := finishing(e, 30*time.Millisecond)
	f.want(wire.PkFini)
	if err := <-done; err == nil || !strings.Contains(err.Error(), "not finished in time") {
		t.Error(err)
	}
}

func TestAPeerThatNeverAcknowledgesTheAnswersIsCutOff(t *testing.T) {
	e, f := against(t, marked(1000, 1000), Options{})
	done := finishing(e, patience)
	b := []byte(strings.Repeat(string(packet(f.job, transport.Header{Kind: transport.Cancel, Src: 2, Dst: 0}, "")), 1000))
	go func() {
		for { // keeping to the window itself: the next thousand when the last is acknowledged
			if _, err := f.c.Write(b); err != nil {
				return
			}
			for p := wire.Packet(make([]byte, wire.PacketSize)); p.Type() != wire.PkProtoAck; {
				if _, err := io.ReadFull(f.c, p); err != nil {
					return
				}
			}
		}
	}()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "not acknowledged") {
		t.Error(err)
	}
}

func TestAbortLooksLikeAnAbnormalEnd(t *testing.T) {
	es := connect(t, layout{{1}, {2}, {1}}, nil, Options{})
	es[1].host.Abort()
	for i, e := range []*engine{es[0], es[2]} {
		e.until(t, "loss", func() bool { return len(e.lost) == 2 })
		for _, p := range []int32{1, 2} {
			if err := e.lost[p]; err == nil || !strings.Contains(err.Error(), "host 1 (client 1, ") {
				t.Errorf("engine %d: process %d: %v", i, p, err)
			}
		}
		if !e.host.Send(&transport.Header{Kind: transport.Data, Src: int32(3 * i), Dst: 1}, nil) {
			t.Error("a packet to a lost process is kept")
		}
	}
	es[0].put(t, transport.Header{Kind: transport.Data, Src: 0, Dst: 3}, "still here")
	es[2].await(t, 1)
}

func TestAbortMayComeFromDeliverAndLost(t *testing.T) {
	e, f := against(t, marked(1, 1), Options{})
	e.on = func(*transport.Header, []byte) { e.host.Abort() }
	b := packet(f.job, transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "x")
	f.say(append(b, b...))
	e.until(t, "abort", func() bool { return e.host.epoll < 0 })
}

func ofLibimpi(job *transport.Job) { job.Hosts[1].SameImpl = true }

// What was said before comes first, and nothing is said after.
func TestTheFiniOfAHostOfLibimpiIsAnsweredAtOnce(t *testing.T) {
	e, f := against(t, ofLibimpi, Options{})
	e.put(t, transport.Header{Kind: transport.Data, Src: 0, Dst: 2}, "before")
	f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "the last")
	f.say(finiPacket())
	f.want(wire.PkData)
	p, _ := f.hear()
	for p.Type() == wire.PkProtoAck {
		p, _ = f.hear()
	}
	if p.Type() != wire.PkFini {
		t.Errorf("packet of type %d for FINI", p.Type())
	}
	f.c.SetReadDeadline(time.Now().Add(patience))
	if n, err := f.c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d bytes and %v behind FINI", n, err)
	}
	e.put(t, transport.Header{Kind: transport.Data, Src: 0, Dst: 2}, "for nobody")
	if len(e.got) != 1 {
		t.Errorf("%d packets delivered", len(e.got))
	}
	f.c.Close()
	if err := <-finishing(e, patience); err != nil || len(e.lost) != 0 {
		t.Errorf("%v, lost %v", err, e.lost)
	}
}

func TestTheAnswerToAFiniWaitsForRoom(t *testing.T) {
	e, f := against(t, func(job *transport.Job) {
		ofLibimpi(job)
		job.AckMark, job.HiWater = 1<<20, 1<<20
	}, Options{})
	sent := 0
	e.mu.Lock()
	for payload := make([]byte, 60_000); e.host.Send(&transport.Header{Kind: transport.Data, Src: 0, Dst: 2,
		Len: len(payload), MsgLen: uint64(len(payload))}, payload); {
		sent++
	}
	e.mu.Unlock()
	f.say(finiPacket())
	e.until(t, "FINI", func() bool { return e.host.links[1].fini })
	e.mu.Lock()
	if l := e.host.links[1]; !l.blocked || l.finiOut || l.halved {
		t.Errorf("the link is not full: %v %v %v", l.blocked, l.finiOut, l.halved)
	}
	e.mu.Unlock()
	polls := make(chan bool)
	go func() {
		e.until(t, "the answer", func() bool { return e.host.links[1].halved })
		close(polls)
	}()
	for range sent {
		f.want(wire.PkData)
	}
	f.want(wire.PkFini)
	<-polls
	f.c.Close()
	if err := <-finishing(e, patience); err != nil || len(e.lost) != 0 {
		t.Errorf("%v, lost %v", err, e.lost)
	}
}

// Hosts leave one after the other, and those who stay go on.
func TestHostsOfLibimpiLeaveWhenTheyLike(t *testing.T) {
	for _, streams := range []uint32{1, 3} {
		t.Run(fmt.Sprint(streams), func(t *testing.T) {
			es := connect(t, layout{{1}, {1}, {1}}, func(job *transport.Job) {
				several(streams, false)(job)
				for i := range job.Hosts {
					job.Hosts[i].SameImpl = true
				}
			}, Options{})
			for i, e := range es {
				done := finishing(e, patience)
				for _, other := range es[i+1:] {
					other.until(t, "FINI", func() bool { return other.host.links[i].halved })
				}
				if err := <-done; err != nil || len(e.lost) != 0 {
					t.Errorf("host %d: %v, lost %v", i, err, e.lost)
				}
				if i == 0 {
					es[1].put(t, transport.Header{Kind: transport.Data, Src: 1, Dst: 2}, "going on")
					es[2].until(t, "packet", func() bool { return len(es[2].got) == 1 })
				}
			}
		})
	}
}
