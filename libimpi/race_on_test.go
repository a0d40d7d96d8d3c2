//go:build race

package libimpi

const raceOn = true

// perQuarter is a quarter of the processes of large jobs.
const perQuarter = 2

// often is how often a test repeats what it repeats so often without the detector, which takes ten times as long.
func often(n int) int { return (n + 3) / 4 }
