package libimpi

import (
	stdcontext "context"
	"slices"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/libimpi/background"
	"github.com/libimpi/libimpi/transport/fake"
)

// Jobs of transport/fake: whole programs, deterministic, over packets that are late, refused and cut.

// fakes are the places of all engines of running tests in their fake jobs.
var fakes sync.Map

type fakePlace struct {
	world *fake.World
	index int // among the processes of all jobs
}

func placeOf(e *Engine) fakePlace {
	p, _ := fakes.Load(e)
	place, _ := p.(fakePlace)
	return place
}

func fakeOf(e *Engine) *fake.World { return placeOf(e).world }

// late is a fake job of one client; makeWorld, with a machine for each client, has those of several.
func late(tb testing.TB, n int, seed uint64) []*Engine {
	return makeWorld(tb, options{clients: []int{n}, fake: &fake.Options{Seed: seed, Late: 10}})
}

func makeFake(tb testing.TB, o options) []*Engine {
	tb.Helper()
	f := *o.fake
	if f.Machines == nil {
		f.Machines = o.clients
		for i := range o.clients {
			f.Clients = append(f.Clients, int32(i))
		}
	}
	f.NoRead = f.NoRead || o.noRead
	w := fake.New(f)
	es := make([]*Engine, w.Size())
	for i := range es {
		job := w.Job(i)
		if o.tune != nil {
			o.tune(job)
		}
		var err error
		es[i], err = New(stdcontext.Background(), Config{Job: job, Home: w.Home(i), Open: w.Open(i),
			ReadAll: o.readAll, Thread: background.Never})
		if err != nil {
			tb.Fatal(err)
		}
		es[i].kernelCopies(o.direct || o.readAll)
		fakes.Store(es[i], fakePlace{w, i})
	}
	tb.Cleanup(func() {
		for _, e := range es {
			fakes.Delete(e)
		}
	})
	return es
}

// runFake runs body for some ranks of a fake job.
func runFake(tb testing.TB, w *fake.World, es []*Engine, body func(e *Engine)) {
	tb.Helper()
	for i, e := range es {
		if slices.Contains(es[:i], e) {
			tb.Fatal("a process of a fake job has one thread")
		}
	}
	err := w.Run(func(rank int) {
		if i := slices.IndexFunc(es, func(e *Engine) bool { return placeOf(e).index == rank }); i >= 0 {
			body(es[i])
		}
	})
	must(tb, err)
}
