package main

import "testing"

func TestHPCCGetsAGridOfItsRanks(t *testing.T) {
	text := "1            # of process grids (P x Q)\n2            Ps\n2            Qs\n16.0         threshold\n"
	for ranks, want := range map[int]string{
		1: "1            Ps\n1            Qs\n",
		2: "1            Ps\n2            Qs\n",
		6: "2            Ps\n3            Qs\n",
	} {
		whole := "1            # of process grids (P x Q)\n" + want + "16.0         threshold\n"
		if got := onGrid(text, ranks); got != whole {
			t.Errorf("%d ranks: %s", ranks, got)
		}
	}
}
