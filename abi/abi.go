// Package abi holds the constants of the MPI 5.0 standard ABI under their MPI
// names, and the tables that the C side is generated from.
//
//	functions.tsv   every function: prototype, chapter, whether the ABI has it
//	constants.tsv   every constant, type and callback, with its value in the ABI
//	extensions.tsv  values of libimpi's own for names to which the ABI gives none
//	table/          reads them: prototypes, pairs MPI_X and MPI_X_c, engine entries
//	gen/            writes mpi.h, the C shim, the symbol list, z_constants.go
package abi

//go:generate go run ./gen
