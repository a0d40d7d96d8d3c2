//go:build !race

package datatype

const race = false
