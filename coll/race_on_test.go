//go:build race

package coll_test

const race = true
