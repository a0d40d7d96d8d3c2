package libimpi

import (
	"bytes"
	stdcontext "context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// Several jobs that meet, in worlds as those of jobs_test.go.

// meetingShapes are worlds of several jobs.
var meetingShapes = map[string]fake.Options{
	"one and one":           {Machines: []int{1, 1}, Jobs: []int{0, 1}, Near: true},
	"two and three, far":    {Machines: []int{2, 3}, Jobs: []int{0, 1}, Room: 4},
	"four and four":         {Machines: []int{4, 4}, Jobs: []int{0, 1}, Near: true, Room: 3},
	"three jobs":            {Machines: []int{1, 2, 2}, Jobs: []int{0, 1, 2}, Near: true, Room: 3},
	"four jobs, far":        {Machines: []int{2, 1, 2, 1}, Jobs: []int{0, 1, 2, 3}, Room: 5},
	"machines of two jobs":  {Machines: []int{2, 1, 1, 2}, Jobs: []int{0, 0, 1, 1}, Room: 5},
	"a job of two clients":  {Machines: []int{2, 1, 2}, Clients: []int32{0, 1, 0}, Jobs: []int{0, 0, 1}, Room: 4},
	"two jobs of clients":   {Machines: []int{1, 2, 1, 1}, Clients: []int32{0, 1, 0, 1}, Jobs: []int{0, 0, 1, 1}},
	"without talent":        {Machines: []int{2, 2}, Jobs: []int{0, 1}, Room: 3, Plain: true},
	"no memory of others'":  {Machines: []int{3, 2}, Jobs: []int{0, 1}, Near: true, NoRead: true, Room: 2},
	"five jobs of a single": {Machines: []int{1, 1, 1, 1, 1}, Jobs: []int{0, 1, 2, 3, 4}, Near: true},
}

// jobsOf are the engines by job.
func jobsOf(es []*Engine) (jobs [][]*Engine) {
	for i, e := range es {
		if i == 0 || e.position.jobID != es[i-1].position.jobID {
			jobs = append(jobs, nil)
		}
		jobs[len(jobs)-1] = append(jobs[len(jobs)-1], e)
	}
	return jobs
}

// jobNumber is the number of an engine's job.
func jobNumber(jobs [][]*Engine, e *Engine) int {
	return slices.IndexFunc(jobs, func(es []*Engine) bool { return slices.Contains(es, e) })
}

// gathering is a test's plan by which jobs meet one after the other: job 0 is joined by all others, each of which meets
// what there is already.
type gathering struct {
	jobs  [][]*Engine
	lines [][2]transport.Line // for each job but the first
}

func gather(es []*Engine) *gathering {
	g := &gathering{jobs: jobsOf(es)}
	w := fakeOf(es[0])
	for _, job := range g.jobs[1:] {
		a, b := w.Line(placeOf(es[0]).index, placeOf(job[len(job)-1]).index)
		g.lines = append(g.lines, [2]transport.Line{a, b})
	}
	return g
}

// all makes an intracommunicator of all jobs, with job 0 first. Each of the others has its last rank as leader.
func (g *gathering) all(t *testing.T, e *Engine) *Comm {
	mine := jobNumber(g.jobs, e)
	var all *Comm
	if mine == 0 {
		all = e.World()
	}
	for j := 1; j < len(g.jobs); j++ {
		var inter *Comm
		var err error
		switch {
		case mine < j:
			inter, err = all.Meet(stdcontext.Background(), g.lines[j-1][0], 0, nil)
		case mine == j:
			inter, err = e.World().Meet(stdcontext.Background(), g.lines[j-1][1], e.World().Size()-1, nil)
		default:
			continue
		}
		if err != nil {
			t.Errorf("job %d, rank %d: %v", mine, e.me, err)
			return nil
		}
		merged, err := inter.Merge(mine == j)
		if err != nil {
			t.Errorf("job %d, rank %d: %v", mine, e.me, err)
			return nil
		}
		must(t, inter.Free())
		if all != nil && all != e.World() {
			must(t, all.Free())
		}
		all = merged
	}
	return all
}

// acrossJobs lets all jobs meet, and runs part in each process that has got a communicator of them all.
func acrossJobs(t *testing.T, es []*Engine, part func(e *Engine, c *Comm)) {
	t.Helper()
	g := gather(es)
	together(t, es, func(e *Engine) {
		if c := g.all(t, e); c != nil {
			part(e, c)
		}
	})
}

// forgotten checks that no guest is left, nor anything else.
func forgotten(t *testing.T, es []*Engine) {
	t.Helper()
	noFailure(t, es)
	for _, e := range es {
		idle(t, e, 0)
		e.mu.Lock()
		if len(e.guests.here) != 0 || len(e.guests.leaving) != 0 || len(e.guests.far) != 0 {
			t.Errorf("rank %d: %d guests, %d of them leaving, over %d transports", e.me, len(e.guests.here),
				len(e.guests.leaving),
				len(e.guests.far))
		}
		e.mu.Unlock()
	}
}

func TestJobsMeetAndPart(t *testing.T) {
	inMeetings(t, func(t *testing.T, es []*Engine, seed uint64) {
		acrossJobs(t, es, func(e *Engine, all *Comm) {
			if all.Size() != len(es) || all.Rank() != placeOf(e).index {
				t.Errorf("rank %d of %d, want %d of %d", all.Rank(), all.Size(), placeOf(e).index, len(es))
			}
			must(t, all.Disconnect())
			must(t, e.World().Barrier())
		})
		forgotten(t, es)
	})
}

// Random traffic of all kinds between all, with receives from any source besides, against what was sent.
func TestMessagesBetweenJobsArrive(t *testing.T) {
	inMeetings(t, func(t *testing.T, es []*Engine, seed uint64) {
		all := plan(len(es), 20*len(es), seed)
		acrossJobs(t, es, func(e *Engine, c *Comm) {
			me := c.Rank()
			must(t, e.AttachBuffer(1<<24))
			r := rand.New(rand.NewPCG(seed, uint64(me)+2))
			var ids []uint64
			var bufs, want [][]byte
			for i := range all {
				m := &all[i]
				if m.from == me {
					ids = append(ids, m.beginOn(t, c))
				}
				if m.to == me {
					buf := make([]byte, len(m.data)+r.IntN(2))
					bufs, want = append(bufs, buf), append(want, m.data)
					ids = append(ids, c.Irecv(at(buf), int64(len(buf)), byteT, m.from, m.tag))
				}
			}
			finishSends(t, e, ids)
			wantMessages(t, me, bufs, want)
			must(t, e.DetachBuffer())
			must(t, c.Disconnect())
		})
		forgotten(t, es)
	})
}

func TestProbesCancellationsAndAnySourceBetweenJobs(t *testing.T) {
	inMeetings(t, func(t *testing.T, es []*Engine, seed uint64) {
		acrossJobs(t, es, func(e *Engine, c *Comm) {
			n := c.Size()
			if c.Rank() != 0 {
				data := pattern(100*c.Rank(), c.Rank())
				must(t, c.Send(at(data), int64(len(data)), byteT, 0, 5, Synchronous))
				gone := c.Isend(at(data), int64(len(data)), byteT, 0, 6, Synchronous) // nobody asks for it
				must(t, e.Cancel(gone))
				var st CStatus
				must(t, e.Wait(&gone, &st))
				if !st.Cancelled() {
					t.Errorf("rank %d: not cancelled", c.Rank())
				}
			} else {
				for i := range n - 1 {
					var st Status
					buf := make([]byte, 100*n)
					if i%2 == 0 {
						must(t, c.Probe(abi.MPI_ANY_SOURCE, 5, &st))
						must(t, c.Recv(at(buf), st.Bytes, byteT, int(st.Source), 5, &st))
					} else {
						m, err := c.Mprobe(abi.MPI_ANY_SOURCE, 5, &st)
						if err != nil {
							t.Error(err)
							return
						}
						id := m.Imrecv(at(buf), st.Bytes, byteT)
						must(t, e.Wait(&id, nil))
					}
					if st.Bytes != int64(100*st.Source) || !bytes.Equal(buf[:st.Bytes], pattern(int(st.Bytes), int(st.Source))) {
						t.Errorf("%d bytes of rank %d", st.Bytes, st.Source)
					}
				}
			}
			must(t, c.Barrier())
			must(t, c.Disconnect())
		})
		forgotten(t, es)
	})
}

func TestCollectivesAndCommunicatorsOfSeveralJobs(t *testing.T) {
	inMeetings(t, func(t *testing.T, es []*Engine, seed uint64) {
		acrossJobs(t, es, func(e *Engine, c *Comm) {
			work(t, c, seed)
			d, err := c.Dup()
			must(t, err)
			work(t, d, seed)
			odd, err := d.Split(int32(d.Rank()%2), int32(-d.Rank()))
			must(t, err)
			work(t, odd, seed)
			must(t, odd.Free())
			must(t, d.Free())
			must(t, c.Disconnect())
		})
		forgotten(t, es)
	})
}

// work tries collectives of all forms, each with an oracle.
func work(t *testing.T, c *Comm, seed uint64) {
	t.Helper()
	r, me, n := rand.New(rand.NewPCG(seed, 9)), int32(c.Rank()), int32(c.Size())
	e := c.engine
	for range 3 {
		count, root := 1+r.IntN([]int{3, 200, 3000}[r.IntN(3)]), r.IntN(int(n))
		mine, sum := make([]int32, count), make([]int32, count)
		for i := range mine {
			mine[i] = me*1000 + int32(i)
		}
		last := int32(count - 1)
		must(t, c.Allreduce(intBuf(mine), intBuf(sum), op.Predefined(abi.MPI_SUM)))
		if want := n*(n-1)/2*1000 + n*last; sum[last] != want {
			t.Errorf("rank %d of %s: the sum is %d, want %d", me, c, sum[last], want)
		}
		clear(sum)
		task, err := c.Later(coll.Nonblocking)
		must(t, err)
		must(t, task.Operations().Allreduce(intBuf(mine), intBuf(sum), op.Predefined(abi.MPI_SUM)))
		id := task.Start()
		must(t, c.Barrier())
		must(t, e.Wait(&id, nil))
		if want := n*(n-1)/2*1000 + n*last; sum[last] != want {
			t.Errorf("rank %d of %s: the later sum is %d, want %d", me, c, sum[last], want)
		}
		if int(me) == root {
			copy(sum, mine)
		}
		must(t, c.Bcast(intBuf(sum), root))
		if want := int32(root)*1000 + last; sum[last] != want {
			t.Errorf("rank %d of %s: %d from the root, want %d", me, c, sum[last], want)
		}
		all := make([]int32, n)
		must(t, c.Allgather(intBuf([]int32{me}), perRank(all)))
		if all[n-1] != n-1 {
			t.Errorf("rank %d of %s: gathered %v", me, c, all)
		}
	}
}

// slowMeeting is a transport.Meeting whose Join goes on for a while after it need not. Its state is one thread's.
type slowMeeting struct {
	begun, lost chan struct{}
	joining     bool
	closed      chan bool // whether Join was over
}

func (s *slowMeeting) Card() ([]byte, error) { return nil, nil }

func (s *slowMeeting) Join(ctx stdcontext.Context, _ transport.Participants, _ transport.Receiver, _ func()) (
	[]transport.Guest, error) {
	s.joining = true
	close(s.begun)
	<-ctx.Done()
	<-s.lost
	s.joining = false
	return nil, ctx.Err()
}

func (s *slowMeeting) Close() { s.closed <- !s.joining }

func TestAMeetingThatAProcessLeavesBecauseOneIsLostEndsOnTheThreadThatJoins(t *testing.T) {
	es := world(t, 2)
	e := es[0]
	s := &slowMeeting{begun: make(chan struct{}), lost: make(chan struct{}), closed: make(chan bool, 2)}
	go func() {
		<-s.begun
		e.mu.Lock()
		defer e.mu.Unlock()
		e.Lost(1, errors.New("killed"))
	}()
	var failed error
	err := linksOf{e.World()}.Join(t.Context(), nil, 0, func(ctx stdcontext.Context, r transport.Receiver, wake func()) {
		_, failed = s.Join(ctx, transport.Participants{}, r, wake)
		s.Close()
	}, func() bool { return failed != nil })
	if AsError(err).Class != abi.MPI_ERR_PROC_ABORTED {
		t.Errorf("%v", err)
	}
	select {
	case <-s.closed:
		t.Error("the meeting has ended while it is being joined")
	default:
	}
	close(s.lost)
	if !<-s.closed {
		t.Error("the meeting has ended before it was joined")
	}
}
