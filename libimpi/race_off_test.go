//go:build !race

package libimpi

const raceOn = false
