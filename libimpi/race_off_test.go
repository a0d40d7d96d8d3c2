//go:build !race

package libimpi

const raceOn = false

const perQuarter = 4

func often(n int) int { return n }
