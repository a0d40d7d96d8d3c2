//go:build race

package libimpi

const raceOn = true
