package main

import "C"

import (
	"context"
	"errors"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/startup"
)

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
