package spawn

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/programs"
	"github.com/libimpi/libimpi/cmd/internal/names"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/auth"
)

// nameBook keeps what the processes of this launcher have published, and asks the server that several launchers have in
// common: the one that the user names, or one of this user on this machine, which starts when the first name is
// published.
//
// Requests go to the server one after the other; a job that publishes names does so now and then.
type nameBook struct {
	spawner *Spawner
	base    []string

	mu     sync.Mutex
	mine   map[string]published // by service
	server *names.Client        // nil: it was not needed yet
}

type published struct {
	port   string
	owner  *job.Part // nil: a process of another node
	common bool      // the server has it
}

func newNameBook(s *Spawner, base []string) *nameBook {
	return &nameBook{spawner: s, base: base, mine: map[string]published{}}
}

// scope is where a name is to be known.
type scope int

const (
	everywhere scope = iota
	inJob            // only in this launcher's job
)

func scopeOf(info [][2]string) (sc scope, err error) {
	for _, pair := range info {
		switch pair[0] {
		case "impi_scope":
			switch pair[1] {
			case "job":
				sc = inJob
			case "all":
				sc = everywhere
			default:
				return sc, startup.Refuse(startup.ErrInfo, "info key impi_scope: %q is neither job nor all", pair[1])
			}
		case "ompi_global_scope":
			if sc = everywhere; !truth(pair[1]) {
				sc = inJob
			}
		}
	}
	return sc, nil
}

// serve carries out what a rank asks for. from is nil if the rank is a node's.
func (b *nameBook) serve(from *job.Part, n *startup.Name) (port string, err error) {
	where, err := scopeOf(n.Info)
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch n.What {
	case startup.NamePublish:
		return "", b.publish(from, n, where)
	case startup.NameUnpublish:
		return "", b.unpublish(n)
	}
	return b.lookup(n, where)
}

// maxNames bounds what a job may publish.
const maxNames = 4 << 10

func (b *nameBook) publish(from *job.Part, n *startup.Name, where scope) error {
	if p, there := b.mine[n.Service]; there {
		return startup.Refuse(startup.ErrNameExists, "service %q is published already, at port %s", n.Service, p.port)
	}
	if len(b.mine) >= maxNames {
		return startup.Refuse(startup.ErrRefused, "this job has published %d names", len(b.mine))
	}
	if where != inJob {
		if err := b.ask(true, func(c *names.Client) error { return c.Publish(n.Service, n.Port) }); err != nil {
			return b.refusal(n, err)
		}
	}
	b.mine[n.Service] = published{n.Port, from, where != inJob}
	return nil
}

func (b *nameBook) unpublish(n *startup.Name) error {
	p, there := b.mine[n.Service]
	if !there {
		return startup.Refuse(startup.ErrNoName, "service %q is not published by this job", n.Service)
	}
	if n.Port != "" && n.Port != p.port {
		return startup.Refuse(startup.ErrNoName, "service %q is published at port %s, and not at %s", n.Service, p.port,
			n.Port)
	}
	delete(b.mine, n.Service)
	if p.common {
		err := b.ask(false, func(c *names.Client) error { return c.Unpublish(n.Service) })
		if err != nil && !errors.Is(err, names.ErrNoName) && !errors.Is(err, names.ErrNoServer) {
			return b.refusal(n, err)
		}
	}
	return nil
}

func (b *nameBook) lookup(n *startup.Name, where scope) (port string, err error) {
	if p, there := b.mine[n.Service]; there {
		return p.port, nil
	}
	if where != inJob {
		err = b.ask(false, func(c *names.Client) (err error) { port, err = c.Lookup(n.Service); return err })
		if err != nil && !errors.Is(err, names.ErrNoName) && !errors.Is(err, names.ErrNoServer) {
			return "", b.refusal(n, err)
		}
	}
	if err != nil || where == inJob {
		return "", startup.Refuse(startup.ErrNoName, "service %q is not published", n.Service)
	}
	return port, nil
}

// refusal returns what the server's answer means.
func (b *nameBook) refusal(n *startup.Name, err error) error {
	switch {
	case errors.Is(err, names.ErrExists):
		return startup.Refuse(startup.ErrNameExists, "service %q is published already, by another job", n.Service)
	case errors.Is(err, names.ErrFull):
		return startup.Refuse(startup.ErrRefused, "service %q: %v", n.Service, err)
	}
	where := b.spawner.plan.NameServer
	if where == "" {
		where = "of this machine"
	}
	return startup.Refuse(startup.ErrUnreachable, "service %q: the name server %s cannot be asked: %v (with the info key "+
		"impi_scope=job names stay in this job, and need none)", n.Service, where, err)
}

// ask has the server do something. start says whether one may be started.
func (b *nameBook) ask(start bool, do func(*names.Client) error) error {
	if b.server == nil {
		c, err := b.connect(start)
		if err != nil {
			return err
		}
		if !start && b.spawner.plan.NameServer == "" {
			defer c.Close() // it may start none; the next may have to
			return do(c)
		}
		b.server = c
	}
	return do(b.server)
}

func (b *nameBook) connect(start bool) (*names.Client, error) {
	lookup := func(name string) (string, bool) { v := programs.ValueIn(b.base, name); return v, v != "" }
	if at := b.spawner.plan.NameServer; at != "" {
		m, err := auth.FromEnv(lookup)
		if err != nil && !errors.Is(err, auth.ErrNoMethod) {
			return nil, err
		}
		return names.NewClient(names.At(at), m.Secret), nil
	}
	folder := names.Folder(func(name string) string { return programs.ValueIn(b.base, name) })
	if !start {
		return names.NewClient(names.In(folder, nil), ""), nil
	}
	return names.NewClient(names.In(folder, func() error { return b.startServer(folder) }), ""), nil
}

// startServer starts the server of this user on this machine. It stays when this job has ended.
func (b *nameBook) startServer(folder string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	argv := []string{self, NamesWord, folder}
	b.spawner.mu.Lock()
	job := b.spawner.job
	b.spawner.mu.Unlock()
	if job != nil {
		return job.Leave(argv)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	p, err := os.StartProcess(self, argv, &os.ProcAttr{Dir: "/", Env: []string{}, Files: []*os.File{null, null, null},
		Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return err
	}
	go p.Wait() // it may find that there is one already, and end at once
	return nil
}

// forget takes back the names of a spawned job that has ended.
func (b *nameBook) forget(owner *job.Part) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for service, p := range b.mine {
		if p.owner == owner {
			b.unpublish(&startup.Name{Service: service})
		}
	}
}

// close frees all names.
func (b *nameBook) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.server != nil {
		b.server.Close()
	}
}
