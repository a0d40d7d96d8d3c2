//go:build race

package agent

const race = true
