//go:build race

package datatype

const race = true
