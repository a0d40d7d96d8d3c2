//go:build !race

package libimpi

const raceOn = false

func often(n int) int { return n }
