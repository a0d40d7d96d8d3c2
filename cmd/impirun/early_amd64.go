package main

// early is the launcher's entry: see early_amd64.s.
//
//lint:ignore U1000 the linker refers to it (-E)
func early()
