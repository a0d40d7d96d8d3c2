package launcher

import "testing"

// What takes minutes: random programs enough for some thousand deaths, and machines and clients that are lost at any
// time (make test-long).

func TestManyRandomProgramsSurvive(t *testing.T) {
	for _, seed := range seedsOr(t, 10000, 12000) {
		if randomProgram(t, seed); t.Failed() {
			return
		}
	}
}

func TestRandomProgramsSurviveManyMachinesAndClients(t *testing.T) {
	for _, seed := range seedsOr(t, 100, 160) {
		withoutMachine(t, seed)
		if withoutClient(t, seed); t.Failed() {
			return
		}
	}
}
