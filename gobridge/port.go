package main

import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/ports"
	"github.com/libimpi/libimpi/transport"
)

// Two groups of processes that find each other (MPI 5.0, 11.10): at a port, which one of them opens, or over a socket
// of the program. The root of each side gets a line to the other's; the rest is the engine's (libimpi.Comm.Meet):
//
//	root:       arguments, accept or dial -> line, or an error
//	everybody:  announce: whether there is a line, and how long the rest may take -> Meet
//
// What the root alone has to know is looked at there only, and an error there is everybody's.

// openPorts are the ports that this process has open, by name.
var openPorts struct {
	sync.Mutex
	open map[string]*ports.Port
}

// mostPorts bounds them: each is a listening socket.
const mostPorts = 256

// closePorts closes what the program has left open.
func closePorts() {
	openPorts.Lock()
	defer openPorts.Unlock()
	for name, p := range openPorts.open {
		p.Close()
		delete(openPorts.open, name)
	}
}

//export impi_Open_port
func impi_Open_port(info, port_name uintptr) int32 {
	k := check{fn: "MPI_Open_port"}
	if k.notStarted() {
		return k.fail()
	}
	k.info(info)
	if k.result(port_name, "port_name"); k.err != nil {
		return k.fail()
	}
	openPorts.Lock()
	defer openPorts.Unlock()
	if len(openPorts.open) >= mostPorts {
		k.set(abi.MPI_ERR_OTHER, "%d ports are open", mostPorts)
		return k.fail()
	}
	p, err := ports.Listen(started().meeting)
	if err != nil {
		return k.failed(libimpi.Errorf(abi.MPI_ERR_OTHER, "no port can be opened: %v", err))
	}
	if len(p.Name()) >= abi.MPI_MAX_PORT_NAME {
		p.Close()
		k.set(abi.MPI_ERR_INTERN, "the port's name has %d characters", len(p.Name()))
		return k.fail()
	}
	if openPorts.open == nil {
		openPorts.open = map[string]*ports.Port{}
	}
	openPorts.open[p.Name()] = p
	putText(port_name, p.Name(), abi.MPI_MAX_PORT_NAME)
	return 0
}

//export impi_Close_port
func impi_Close_port(port_name uintptr) int32 {
	k := check{fn: "MPI_Close_port"}
	if k.notStarted() {
		return k.fail()
	}
	name := k.portName(port_name)
	if k.err != nil {
		return k.fail()
	}
	openPorts.Lock()
	p := openPorts.open[name]
	delete(openPorts.open, name)
	openPorts.Unlock()
	if p == nil {
		k.notOurs(name)
		return k.fail()
	}
	p.Close()
	return 0
}

// portName reads the name of a port.
func (k *check) portName(p uintptr) string {
	if k.result(p, "port_name"); k.err != nil {
		return ""
	}
	return text(p, abi.MPI_MAX_PORT_NAME)
}

func (k *check) notOurs(name string) {
	k.set(abi.MPI_ERR_PORT, "argument port_name (%.100q) is not a port that this process has opened and not closed", name)
}

//export impi_Comm_accept
func impi_Comm_accept(port_name, info uintptr, root int32, comm, newcomm uintptr) int32 {
	return meetAt("MPI_Comm_accept", port_name, info, root, comm, newcomm, (*check).accept)
}

//export impi_Comm_connect
func impi_Comm_connect(port_name, info uintptr, root int32, comm, newcomm uintptr) int32 {
	return meetAt("MPI_Comm_connect", port_name, info, root, comm, newcomm, (*check).connect)
}

// wayToMeet gets a root its line. limit is what the program says of the time that it may take; 0: nothing.
type wayToMeet func(k *check, name string, limit patience) (transport.Line, error)

// meetAt is what the two sides of a port have in common.
func meetAt(fn string, port_name, info uintptr, root int32, comm, newcomm uintptr, way wayToMeet) int32 {
	k := commQuery(fn, comm)
	k.intra()
	k.root(root)
	if k.result(newcomm, "newcomm"); !k.agreeRoot(root) {
		return k.fail()
	}
	var line transport.Line
	var limit patience
	var failed error
	if k.c.Rank() == int(root) {
		name := k.portName(port_name)
		limit = k.patience(k.info(info))
		if k.err != nil {
			failed = k.err
		} else if line, failed = way(&k, name, limit); line != nil {
			defer line.Close()
		}
		k.err = nil
	}
	c, _, err := k.meet(line, int(root), failed, limit, nil)
	return k.made(c, err, newcomm)
}

// accept waits at a port for somebody who connects.
func (k *check) accept(name string, limit patience) (transport.Line, error) {
	openPorts.Lock()
	p := openPorts.open[name]
	openPorts.Unlock()
	if p == nil {
		k.notOurs(name)
		return nil, k.err
	}
	return acceptAt(p, limit)
}

func acceptAt(p *ports.Port, limit patience) (transport.Line, error) {
	ctx, cancel := limit.context()
	defer cancel()
	line, err, lost := aside(ctx, p.Accept)
	switch {
	case lost != nil:
		return nil, lost
	case err == nil:
		return line, nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, libimpi.Errorf(abi.MPI_ERR_PORT, "nobody has connected to the port within %v", limit)
	case errors.Is(err, ports.ErrClosed):
		return nil, libimpi.Errorf(abi.MPI_ERR_PORT, "the port has been closed meanwhile")
	}
	return nil, libimpi.Errorf(abi.MPI_ERR_OTHER, "waiting at the port: %v", err)
}

// connect dials a port.
func (k *check) connect(name string, limit patience) (transport.Line, error) {
	if limit == 0 {
		limit = started().connectTime
	}
	ctx, cancel := limit.context()
	defer cancel()
	line, err, lost := aside(ctx, func(ctx context.Context) (transport.Line, error) {
		return ports.Dial(ctx, name, started().meeting)
	})
	var bad *ports.NameError
	switch {
	case lost != nil:
		return nil, lost
	case err == nil:
		return line, nil
	case errors.As(err, &bad):
		return nil, libimpi.Errorf(abi.MPI_ERR_PORT, "argument port_name (%.100q) is not a port's name: %v", name, bad)
	case errors.Is(err, ports.ErrNoPort):
		return nil, libimpi.Errorf(abi.MPI_ERR_PORT, "%v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return nil, libimpi.Errorf(abi.MPI_ERR_PORT, "nobody has accepted at the port within %v", limit)
	}
	return nil, libimpi.Errorf(abi.MPI_ERR_PORT, "the port cannot be reached: %v", err)
}

//export impi_Comm_join
func impi_Comm_join(fd int32, intercomm uintptr) int32 {
	k := check{fn: "MPI_Comm_join"}
	if k.notStarted() {
		return k.fail()
	}
	k.c = started().self.Load()
	if k.c == nil {
		k.set(abi.MPI_ERR_COMM, "there is no MPI_COMM_SELF outside of the world model")
		return k.fail()
	}
	if fd < 0 {
		k.set(abi.MPI_ERR_ARG, "argument fd is %d", fd)
	}
	if k.result(intercomm, "intercomm"); k.err != nil {
		return k.fail()
	}
	limit := started().connectTime
	line, failed := join(fd, limit)
	if line != nil {
		defer line.Close()
	}
	c, _, err := k.meet(line, 0, failed, limit, nil)
	return k.made(c, err, intercomm)
}

// join makes a line of the program's socket.
func join(fd int32, limit patience) (transport.Line, error) {
	ctx, cancel := limit.context()
	defer cancel()
	line, err, lost := aside(ctx, func(ctx context.Context) (transport.Line, error) { return ports.Over(ctx, int(fd)) })
	switch {
	case lost != nil:
		return nil, lost
	case err != nil:
		return nil, libimpi.Errorf(abi.MPI_ERR_OTHER, "argument fd (%d) does not lead to a process that joins: %v", fd, err)
	}
	return line, nil
}

// meet makes the intercommunicator. line, failed and limit are the root's, and so are codes, which all get.
func (k *check) meet(line transport.Line, root int, failed error, limit patience, codes []int32) (*libimpi.Comm,
	[]int32, error) {
	limit, codes, err := k.announce(root, limit, codes)
	if err != nil {
		return nil, nil, err
	}
	switch limit {
	case nobodyComes:
		return nil, codes, nil
	case 0:
		limit = started().connectTime
	}
	ctx, cancel := limit.context()
	defer cancel()
	c, err := k.c.Meet(ctx, line, root, failed)
	if errors.Is(err, context.DeadlineExceeded) {
		err = libimpi.Errorf(abi.MPI_ERR_OTHER, "the processes of the other side have not come within %v", limit)
	}
	return c, codes, err
}

// announce gives all members what the root says: until now they have waited for it, however long that took.
func (k *check) announce(root int, limit patience, codes []int32) (patience, []int32, error) {
	head := []int32{limit.seconds(), int32(len(codes))}
	if err := k.c.Bcast(intsBuf(head), root); err != nil {
		return 0, nil, err
	}
	if k.c.Rank() != root {
		codes = make([]int32, head[1])
	}
	if len(codes) > 0 {
		if err := k.c.Bcast(intsBuf(codes), root); err != nil {
			return 0, nil, err
		}
	}
	return patienceOf(head[0]), codes, nil
}

// aside runs f, which may block for long, on another thread, while this one continues what the process has to do for
// others. lost says that a process of the job is lost; then f may still be under way, and returns nobody.
func aside[T any](ctx context.Context, f func(context.Context) (T, error)) (result T, err, lost error) {
	var found T // the other thread's until it is done
	var failed error
	if lost := engine().Aside(ctx, func(ctx context.Context) { found, failed = f(ctx) }); lost != nil {
		return result, nil, lost
	}
	return found, failed, nil
}

// Names of services (MPI 5.0, 11.10.4), which the launchers keep. They are strings that others find; what they stand
// for need not be a port.

// service is a call about a name: it reads the arguments, and asks.
type service struct {
	check
	name string
	with [][2]string
}

func serviceArgs(fn string, service_name, info uintptr) (k service) {
	k.fn = fn
	if k.notStarted() {
		return k
	}
	if k.result(service_name, "service_name"); k.err != nil {
		return k
	}
	if k.name = text(service_name, startup.MaxName+1); k.name == "" || len(k.name) > startup.MaxName {
		k.set(abi.MPI_ERR_SERVICE, "argument service_name has %d characters; 1 to %d are allowed", len(k.name),
			startup.MaxName)
	}
	if with := k.info(info); with != nil {
		k.with = with.list()
	}
	return k
}

// ask asks the launcher, and returns the port that it says. unknown is the error class of a name that nobody has
// published.
func (k *service) ask(unknown int, question func(context.Context, *startup.Link) (string, error)) (string, error) {
	link, err := started().launcher()
	if err != nil {
		return "", libimpi.Errorf(abi.MPI_ERR_OTHER, "%v", err)
	}
	ctx, cancel := started().connectTime.context()
	defer cancel()
	port, err, lost := aside(ctx, func(ctx context.Context) (string, error) { return question(ctx, link) })
	class := abi.MPI_ERR_OTHER
	switch {
	case lost != nil:
		return "", lost
	case err == nil:
		return port, nil
	case errors.Is(err, startup.ErrNoName):
		class = unknown
	case errors.Is(err, startup.ErrNameExists):
		class = abi.MPI_ERR_SERVICE
	case errors.Is(err, startup.ErrInfo):
		class = abi.MPI_ERR_INFO_VALUE
	case errors.Is(err, context.DeadlineExceeded):
		return "", libimpi.Errorf(class, "the launcher has not answered within %v", started().connectTime)
	}
	return "", libimpi.Errorf(class, "argument service_name (%.100q): %v", k.name, err)
}

//export impi_Publish_name
func impi_Publish_name(service_name, info, port_name uintptr) int32 {
	return changeNames("MPI_Publish_name", service_name, info, port_name, (*startup.Link).Publish)
}

//export impi_Unpublish_name
func impi_Unpublish_name(service_name, info, port_name uintptr) int32 {
	return changeNames("MPI_Unpublish_name", service_name, info, port_name, (*startup.Link).Unpublish)
}

// change is a request to a launcher that changes its list of names.
type change func(l *startup.Link, ctx context.Context, service, port string, info [][2]string) error

// changeNames makes a call that publishes a name or takes it back.
func changeNames(fn string, service_name, info, port_name uintptr, change change) int32 {
	k := serviceArgs(fn, service_name, info)
	port := k.portName(port_name)
	if k.err != nil {
		return k.fail()
	}
	_, err := k.ask(abi.MPI_ERR_SERVICE, func(ctx context.Context, l *startup.Link) (string, error) {
		return "", change(l, ctx, k.name, port, k.with)
	})
	return k.done(err)
}

//export impi_Lookup_name
func impi_Lookup_name(service_name, info, port_name uintptr) int32 {
	k := serviceArgs("MPI_Lookup_name", service_name, info)
	if k.result(port_name, "port_name"); k.err != nil {
		return k.fail()
	}
	port, err := k.ask(abi.MPI_ERR_NAME, func(ctx context.Context, l *startup.Link) (string, error) {
		return l.Lookup(ctx, k.name, k.with)
	})
	if err == nil && len(port) >= abi.MPI_MAX_PORT_NAME {
		err = libimpi.Errorf(abi.MPI_ERR_NAME, "the port of %.100q has a name of %d characters", k.name, len(port))
	}
	if err != nil {
		return k.failed(err)
	}
	putText(port_name, port, abi.MPI_MAX_PORT_NAME)
	return 0
}

// patience is how long processes of another job are waited for: what the info key timeout says, in seconds, as in other
// implementations, or else the setting IMPI_CONNECT_TIMEOUT. 0 is nothing said.
type patience time.Duration

// nobodyComes is what members hear of a root that has started programs without MPI.
const nobodyComes = patience(-time.Second)

// defaultConnectTime and mostConnectTime, in seconds, are of the setting.
const (
	defaultConnectTime = 120
	mostConnectTime    = 1 << 30
)

func (p patience) String() string { return time.Duration(p).String() }

// context is one that ends when the time is over; never, if nothing is said.
func (p patience) context() (context.Context, context.CancelFunc) {
	if p == 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), time.Duration(p))
}

// seconds are the whole seconds of it, and one more for what is left: how others are told.
func (p patience) seconds() int32 {
	if p == nobodyComes {
		return -1
	}
	return int32((time.Duration(p) + time.Second - 1) / time.Second)
}

func patienceOf(seconds int32) patience { return patience(time.Duration(seconds) * time.Second) }

// patience reads the info key.
func (k *check) patience(with *info) patience {
	if with == nil {
		return 0
	}
	value, ok := with.get("timeout")
	if !ok {
		return 0
	}
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(s) || s <= 0 || s > mostConnectTime {
		k.set(abi.MPI_ERR_INFO_VALUE, "the value of info key timeout (%.100q) is not a positive number of seconds", value)
		return 0
	}
	return max(1, patience(s*float64(time.Second)))
}

// parseConnectTime reads the setting.
func parseConnectTime(text string) (patience, error) {
	if text == "" {
		return patienceOf(defaultConnectTime), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostConnectTime {
		return 0, fmt.Errorf("IMPI_CONNECT_TIMEOUT=%q is not a number of seconds from 1 to %d", text, mostConnectTime)
	}
	return patienceOf(int32(n)), nil
}
