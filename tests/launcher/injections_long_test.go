package launcher

import "testing"

// What takes minutes: random programs enough for some thousand deaths, and machines and clients that are lost at any
// time (make test-long).

func TestManyRandomProgramsSurvive(t *testing.T) {
	injections(t, true, seedsOr(t, 10000, 12000), randomProgram)
}

func TestRandomProgramsSurviveManyMachinesAndClients(t *testing.T) {
	injections(t, true, seedsOr(t, 100, 160), withoutMachine, withoutClient)
}
