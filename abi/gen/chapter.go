package main

import "github.com/libimpi/libimpi/abi/table"

// chapter groups functions as the standard does: one shim file, one section of
// the header and of the state page.
type chapter struct{ file, title string }

var chapters = []chapter{
	{"environment", "environment, errors, info, sessions, processes"},
	{"pt2pt", "point-to-point communication"},
	{"datatype", "datatypes"},
	{"collective", "collective communication"},
	{"comm", "groups, communicators, attributes, topologies"},
	{"rma", "one-sided communication"},
	{"file", "file access"},
	{"tool", "tool interface"},
	{"interop", "language interoperability"},
}

// extensions is the chapter of functions of mpix.h.
var extensions = chapter{"extension", "extensions, in mpix.h"}

var chapterOfArea = map[string]string{
	"abi": "environment", "environment": "environment", "errhandling": "environment",
	"info": "environment", "sessions": "environment", "process-management": "environment",
	"profiling": "environment", "external-interfaces": "environment",
	"point-to-point": "pt2pt", "partitioned": "pt2pt",
	"datatypes":   "datatype",
	"collectives": "collective", "persistent-collectives": "collective", "neighborhood": "collective",
	"groups-communicators": "comm", "attributes": "comm", "topologies": "comm",
	"rma":              "rma",
	"io":               "file",
	"tool-interface":   "tool",
	"language-interop": "interop",
}

// chapterOf returns the chapter of the first area of f; the zero chapter if the
// area is unknown, which check refuses.
func chapterOf(f table.Function) chapter {
	area := f.Areas[0]
	if f.Extension() {
		return extensions
	}
	if area == "abi" && len(f.Areas) > 1 {
		return chapters[len(chapters)-1] // handle conversions of the ABI
	}
	for _, c := range chapters {
		if c.file == chapterOfArea[area] {
			return c
		}
	}
	return chapter{}
}
