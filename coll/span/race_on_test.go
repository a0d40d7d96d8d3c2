//go:build race

package span_test

const race = true
