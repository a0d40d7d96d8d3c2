package startup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What a rank asks of its launcher while it runs: further processes (MPI 5.0, 11.8), and names (11.10.4).
//
//	rank                              launcher
//	spawn {id, commands, parent}  ->
//	names {id, what, service ...} ->
//	                              <-  answer {id, ...}: one for each, in any order
//
// A rank may have asked for many things at a time; answers are told apart by the id, which the rank chooses.

// Command is one of the programs of MPI_Comm_spawn_multiple.
type Command struct {
	Program string      `json:"program"`
	Args    []string    `json:"args,omitempty"` // without the program's name
	Procs   int32       `json:"procs"`          // how many at most
	Info    [][2]string `json:"info,omitempty"` // keys and values, as the program gave them
}

// Spawn asks for a new job. Its ranks count through the commands, in their order.
type Spawn struct {
	Commands   []Command `json:"commands"`
	Parent     string    `json:"parent"`               // the port to which the new job's rank 0 connects
	Errhandler string    `json:"errhandler,omitempty"` // its initial error handler, one of Errhandlers
}

// Spawned is the launcher's answer to Spawn, when each process has either called MPI_Init or failed.
type Spawned struct {
	Codes []int32 `json:"codes"`          // for each process that was asked for: 0, or an MPI error class
	Text  string  `json:"text,omitempty"` // why, in one sentence, if a code is not 0
	Size  int32   `json:"size"`           // processes of the new job's MPI_COMM_WORLD; 0: there is no new job
}

// CodeSpawn is MPI_ERR_SPAWN, the code of a process that could not be started.
const CodeSpawn = 53

// The reasons for which a launcher refuses what a rank asks for. Errors of Spawn, Publish, Unpublish and Lookup wrap
// them, and say more.
var (
	ErrNoName      = errors.New("no such name is published")        // MPI_ERR_NAME; of Unpublish MPI_ERR_SERVICE
	ErrNameExists  = errors.New("the name is published already")    // MPI_ERR_SERVICE
	ErrUnreachable = errors.New("the name server does not answer")  // also: nobody is there to ask
	ErrInfo        = errors.New("an info value cannot be used")     // MPI_ERR_INFO_VALUE
	ErrRefused     = errors.New("the launcher refuses the request") // too much, or not in order
)

// reasons gives the errors names that travel.
var reasons = map[string]error{"no-name": ErrNoName, "exists": ErrNameExists, "unreachable": ErrUnreachable,
	"info": ErrInfo, "refused": ErrRefused}

// Refusal is an error with one of the reasons above and a sentence that says it in full.
type Refusal struct {
	Reason error
	Text   string
}

func (r *Refusal) Error() string { return r.Text }
func (r *Refusal) Unwrap() error { return r.Reason }

// Refuse makes a Refusal.
func Refuse(reason error, format string, args ...any) error {
	return &Refusal{reason, fmt.Sprintf(format, args...)}
}

// What a rank wants to do with a name.
const (
	NamePublish   = "publish"
	NameUnpublish = "unpublish"
	NameLookup    = "lookup"
)

// Name asks to publish, to unpublish or to look up the port of a service.
type Name struct {
	What    string      `json:"what"`
	Service string      `json:"service"`
	Port    string      `json:"port,omitempty"`
	Info    [][2]string `json:"info,omitempty"`
}

// Request is something that a rank asks of its launcher: one of Spawn and Name is not nil. The launcher answers it with
// LauncherEnd.Answer.
type Request struct {
	ID    uint64
	Spawn *Spawn
	Name  *Name
}

// Answer is the launcher's answer to a request: Spawned, or the Port that was looked up, or Err.
type Answer struct {
	Spawned *Spawned
	Port    string
	Err     error
}

type spawnBody struct {
	ID uint64 `json:"id"`
	Spawn
}

type nameBody struct {
	ID uint64 `json:"id"`
	Name
}

// answerBody is an Answer on its way; Reason is one of the names of reasons, or empty.
type answerBody struct {
	ID      uint64   `json:"id"`
	Spawned *Spawned `json:"spawned,omitempty"`
	Port    string   `json:"port,omitempty"`
	Failed  bool     `json:"failed,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Text    string   `json:"text,omitempty"`
}

// MarshalJSON and UnmarshalJSON let an answer travel also between the launcher's own processes.
func (a Answer) MarshalJSON() ([]byte, error) { return json.Marshal(a.body(0)) }

func (a *Answer) UnmarshalJSON(b []byte) error {
	var body answerBody
	if err := json.Unmarshal(b, &body); err != nil {
		return err
	}
	*a = body.answer()
	return nil
}

func (a Answer) body(id uint64) answerBody {
	b := answerBody{ID: id, Spawned: a.Spawned, Port: a.Port}
	if a.Err != nil {
		b.Failed, b.Text = true, cut(a.Err.Error())
		for name, reason := range reasons {
			if errors.Is(a.Err, reason) {
				b.Reason = name
			}
		}
	}
	return b
}

func (b answerBody) answer() Answer {
	a := Answer{Spawned: b.Spawned, Port: b.Port}
	if b.Failed {
		reason := reasons[b.Reason]
		if reason == nil {
			reason = ErrRefused
		}
		a.Err = &Refusal{reason, cut(b.Text)}
	}
	return a
}

// Limits on requests.
const (
	MaxName       = 1 << 12 // bytes of a service's name, and of a port's
	maxSpawnProcs = 1 << 16
	maxWords      = 2 << 20 // bytes of all programs, arguments and info of a request; the system's limit is about that
)

func (s *Spawn) check() error {
	if len(s.Commands) == 0 {
		return errors.New("the process asks for a job of no command")
	}
	total, words := int64(0), 0
	for _, c := range s.Commands {
		words += len(c.Program)
		for _, a := range c.Args {
			words += len(a)
		}
		for _, i := range c.Info {
			words += len(i[0]) + len(i[1])
		}
		if c.Procs < 0 || c.Program == "" || strings.ContainsRune(c.Program, 0) || slices.ContainsFunc(c.Args,
			func(a string) bool { return strings.ContainsRune(a, 0) }) {
			return fmt.Errorf("the process asks for %d processes of %.40q", c.Procs, c.Program)
		}
		total += int64(c.Procs)
	}
	if total > maxSpawnProcs {
		return fmt.Errorf("the process asks for %d processes at once", total)
	}
	if words > maxWords {
		return fmt.Errorf("the process asks for programs with %d bytes of arguments and info", words)
	}
	if s.Errhandler != "" && !slices.Contains(Errhandlers, s.Errhandler) {
		return fmt.Errorf("the process asks for error handler %.40q", s.Errhandler)
	}
	if len(s.Parent) > MaxName {
		return fmt.Errorf("the process gives a port of %d bytes", len(s.Parent))
	}
	return nil
}

func (n *Name) check() error {
	if n.What != NamePublish && n.What != NameUnpublish && n.What != NameLookup {
		return fmt.Errorf("the process wants to %.20q a name", n.What)
	}
	if len(n.Service) > MaxName || len(n.Port) > MaxName {
		return fmt.Errorf("a name of %d bytes for a port of %d", len(n.Service), len(n.Port))
	}
	return nil
}

// Spawn asks for a new job and waits until each of its processes has called MPI_Init or has failed; the processes
// that have called it go on as soon as the last has. It returns an error if there is nobody to ask, if the request
// cannot be understood (ErrInfo), or when ctx is done; that processes cannot be started is said by Spawned alone. When
// ctx is done, the processes are not taken back. Any goroutine may call it, after Job.
func (l *Link) Spawn(ctx context.Context, s Spawn) (Spawned, error) {
	if err := s.check(); err != nil {
		return Spawned{}, &Refusal{ErrRefused, err.Error()}
	}
	a, err := l.ask(ctx, msgSpawn, func(id uint64) any { return spawnBody{id, s} })
	if err != nil {
		return Spawned{}, err
	}
	total := 0
	for _, c := range s.Commands {
		total += int(c.Procs)
	}
	if a.Spawned == nil || len(a.Spawned.Codes) != total || a.Spawned.Size < 0 || int(a.Spawned.Size) > total {
		return Spawned{}, Refuse(ErrRefused, "the launcher answers nonsense to a request for %d processes", total)
	}
	return *a.Spawned, nil
}

// Publish makes the port of a service known. It returns ErrNameExists if there is one of that name already, and
// ErrUnreachable if nobody can be asked. info may have the key impi_scope, with the value job, if only processes of
// this launcher are to find it; ompi_global_scope with the value false is the same. Otherwise others find it, too:
// those of this user on this machine, or those who have the same IMPI_NAMES.
func (l *Link) Publish(ctx context.Context, service, port string, info [][2]string) error {
	_, err := l.name(ctx, Name{NamePublish, service, port, info})
	return err
}

// Unpublish takes back what a process of this launcher has published; ErrNoName if none has. port, if not empty, must
// be that of the service.
func (l *Link) Unpublish(ctx context.Context, service, port string, info [][2]string) error {
	_, err := l.name(ctx, Name{NameUnpublish, service, port, info})
	return err
}

// Lookup returns the port of a service: of one that this launcher's processes have published before one of others. It
// returns ErrNoName if there is none, and ErrUnreachable if others cannot be asked.
func (l *Link) Lookup(ctx context.Context, service string, info [][2]string) (port string, err error) {
	return l.name(ctx, Name{What: NameLookup, Service: service, Info: info})
}

func (l *Link) name(ctx context.Context, n Name) (port string, err error) {
	if err := n.check(); err != nil {
		return "", &Refusal{ErrRefused, err.Error()}
	}
	a, err := l.ask(ctx, msgNames, func(id uint64) any { return nameBody{id, n} })
	return a.Port, err
}

// ask sends a request and waits for its answer.
func (l *Link) ask(ctx context.Context, typ string, body func(id uint64) any) (Answer, error) {
	l.Watch(func(error) {}) // somebody has to hear the answer
	l.mu.Lock()
	if l.ended || l.deaf {
		l.mu.Unlock()
		return Answer{}, Refuse(ErrUnreachable, "the launcher cannot be asked any more: it has gone, or MPI has ended")
	}
	l.asked++
	id, answer := l.asked, make(chan Answer, 1)
	if l.asking == nil {
		l.asking = map[uint64]chan Answer{}
	}
	l.asking[id] = answer
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.asking, id)
		l.mu.Unlock()
	}()
	if err := l.port.send(typ, body(id), time.Now().Add(sendTime)); err != nil {
		return Answer{}, Refuse(ErrUnreachable, "the launcher cannot be asked: %v", err)
	}
	select {
	case a := <-answer:
		return a, a.Err
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
}

// answered hands an answer to who waits for it. An answer that nobody waits for any more is dropped.
func (l *Link) answered(m message) error {
	b, err := decode[answerBody](m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.ID == 0 || b.ID > l.asked {
		return fmt.Errorf("it answers request %d, which we have not made", b.ID)
	}
	if to := l.asking[b.ID]; to != nil {
		delete(l.asking, b.ID)
		to <- b.answer()
	}
	return nil
}

// silence answers all requests for which no answer comes any more.
func (l *Link) silence() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deaf = true
	for id, to := range l.asking {
		delete(l.asking, id)
		to <- Answer{Err: Refuse(ErrUnreachable, "the launcher has gone without an answer")}
	}
}

// request reads what a rank asks for.
func request(m message) (Message, error) {
	if m.Type == msgSpawn {
		b, err := decode[spawnBody](m)
		if err == nil {
			err = b.check()
		}
		return Request{ID: b.ID, Spawn: &b.Spawn}, err
	}
	b, err := decode[nameBody](m)
	if err == nil {
		err = b.check()
	}
	return Request{ID: b.ID, Name: &b.Name}, err
}

// Answer returns a request.
func (l *LauncherEnd) Answer(id uint64, a Answer) error {
	return l.port.send(msgAnswer, a.body(id), time.Now().Add(sendTime))
}
