package launcher

import "testing"

func TestManyRandomProgramsSurviveCuts(t *testing.T) { surviveCuts(t, seedsOr(t, 100, 300)) }
