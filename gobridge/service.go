package main

import "C"

import (
	"context"
	"errors"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/transport/boot"
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
	if k.name = text(service_name, boot.MaxName+1); k.name == "" || len(k.name) > boot.MaxName {
		k.set(abi.MPI_ERR_SERVICE, "argument service_name has %d characters; 1 to %d are allowed", len(k.name), boot.MaxName)
	}
	if with := k.info(info); with != nil {
		k.with = with.list()
	}
	return k
}

// ask asks the launcher. unknown is the error class of a name that nobody has published.
func (k *service) ask(unknown int, question func(context.Context, *boot.Link) error) error {
	link, err := started().launcher()
	if err != nil {
		return libimpi.Errorf(abi.MPI_ERR_OTHER, "%v", err)
	}
	ctx, cancel := started().connectTime.context()
	defer cancel()
	if lost := whileOthersGoOn(cancel, func() { err = question(ctx, link) }); lost != nil {
		return lost
	}
	class := abi.MPI_ERR_OTHER
	switch {
	case err == nil:
		return nil
	case errors.Is(err, boot.ErrNoName):
		class = unknown
	case errors.Is(err, boot.ErrNameExists):
		class = abi.MPI_ERR_SERVICE
	case errors.Is(err, boot.ErrInfo):
		class = abi.MPI_ERR_INFO_VALUE
	case errors.Is(err, context.DeadlineExceeded):
		return libimpi.Errorf(class, "the launcher has not answered within %v", started().connectTime)
	}
	return libimpi.Errorf(class, "argument service_name (%.100q): %v", k.name, err)
}

//export impi_Publish_name
func impi_Publish_name(service_name, info, port_name uintptr) int32 {
	k := serviceArgs("MPI_Publish_name", service_name, info)
	port := k.portArg(port_name)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.ask(abi.MPI_ERR_SERVICE, func(ctx context.Context, l *boot.Link) error {
		return l.Publish(ctx, k.name, port, k.with)
	}))
}

//export impi_Unpublish_name
func impi_Unpublish_name(service_name, info, port_name uintptr) int32 {
	k := serviceArgs("MPI_Unpublish_name", service_name, info)
	port := k.portArg(port_name)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.ask(abi.MPI_ERR_SERVICE, func(ctx context.Context, l *boot.Link) error {
		return l.Unpublish(ctx, k.name, port, k.with)
	}))
}

//export impi_Lookup_name
func impi_Lookup_name(service_name, info, port_name uintptr) int32 {
	k := serviceArgs("MPI_Lookup_name", service_name, info)
	if !(started() == nil) {
		k.result(port_name, "port_name")
	}
	if k.err != nil {
		return k.fail()
	}
	var port string
	err := k.ask(abi.MPI_ERR_NAME, func(ctx context.Context, l *boot.Link) (err error) {
		port, err = l.Lookup(ctx, k.name, k.with)
		return err
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

// portArg reads the port of a name that is published or taken back.
func (k *service) portArg(p uintptr) string {
	if k.err != nil {
		return ""
	}
	return k.portName(p)
}
