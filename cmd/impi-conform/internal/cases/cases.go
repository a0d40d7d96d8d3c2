// Package cases is the list of conformance cases, a file for each group.
package cases

import "github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"

// All are all cases, in the order in which they are run.
func All() (list []conform.Case) {
	for _, group := range [][]conform.Case{
		serverAuth, serverExchange, serverBad, client, tables(), mesh, packets, flow, cancel,
		collectives(), communicators, finish, hostile(), several, joint,
	} {
		list = append(list, group...)
	}
	return list
}
