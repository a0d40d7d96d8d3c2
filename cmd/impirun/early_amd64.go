package main

// early is the launcher's entry: see early_amd64.s.
func early()
