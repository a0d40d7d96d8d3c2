package schedule

import (
	"math/rand/v2"
	"testing"
)

// TestNumbersAgainstAList begins and ends operations that are started once, in any order, beside a plain list of them.
func TestNumbersAgainstAList(t *testing.T) {
	const most = 7
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var n Numbers
		var under []*Number
		last := 0
		for range 200 {
			if len(under) > 0 && rng.IntN(2) == 0 {
				i := rng.IntN(len(under))
				n.Remove(under[i])
				if under[i].Value() != 0 {
					t.Fatal("an operation that has ended has a number")
				}
				under = append(under[:i], under[i+1:]...)
				continue
			}
			number, used := n.Once(most)
			want, wantUsed := last%most+1, false
			for _, u := range under {
				wantUsed = wantUsed || u.Value() == want
			}
			if number != want || used != wantUsed {
				t.Fatalf("seed %d: number %d, used: %t; want %d, %t", seed, number, used, want, wantUsed)
			}
			if last = number; used {
				n.Take(number) // it fails, and the members that do not have the earlier one have begun it
				continue
			}
			u := new(Number)
			if n.Add(u, number); rng.IntN(4) == 0 {
				n.TakeBack(u)
				last--
				continue
			}
			under = append(under, u)
		}
		bits := n.InUse(most)
		for number := 1; number <= most; number++ {
			want := false
			for _, u := range under {
				want = want || u.Value() == number
			}
			if got := bits[0]>>(number-1)&1 == 1; got != want {
				t.Fatalf("seed %d: number %d in use: %t, want %t", seed, number, got, want)
			}
		}
	}
}

// TestAnEarlierNumberIsFound keeps the first operation while others come and go: only the one that would get its number
// is refused, however many rounds later.
func TestAnEarlierNumberIsFound(t *testing.T) {
	const most = 5
	var n Numbers
	var first Number
	n.Add(&first, 1)
	for i := 2; i < 40; i++ {
		number, used := n.Once(most)
		if want := (i-1)%most + 1; number != want || used != (want == 1) {
			t.Fatalf("operation %d: number %d, used: %t", i, number, used)
		}
		n.Take(number)
	}
}

// TestARoundSkipsWhatIsTaken renews the numbers of persistent operations.
func TestARoundSkipsWhatIsTaken(t *testing.T) {
	const most = 70 // more than one word of bits
	var n Numbers
	var kept [most]Number
	for i := range kept {
		number := n.Next(most)
		if number != i+1 {
			t.Fatalf("the number %d comes after %d", number, i)
		}
		n.Add(&kept[i], number)
	}
	if n.Next(most) != 0 {
		t.Fatal("there are more numbers than there are")
	}
	for _, i := range []int{2, 65} {
		n.Remove(&kept[i])
	}
	n.Renew(n.InUse(most))
	for _, want := range []int{3, 66, 0} {
		got := n.Next(most)
		if got != want {
			t.Fatalf("the number %d, want %d", got, want)
		}
		n.Take(got)
	}
}
