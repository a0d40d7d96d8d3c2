package main

import "github.com/libimpi/libimpi/file"

func newRepresentation(c *conversion) file.Representation { return file.Native }
