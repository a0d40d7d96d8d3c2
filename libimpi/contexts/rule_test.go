package contexts

import (
	"errors"
	"testing"
)

func TestAnIdFollowsTheLargestOfAllAndIsEven(t *testing.T) {
	for _, tt := range []struct {
		largest []uint64 // of each process
		want    uint64
	}{
		{[]uint64{1, 1}, 2},
		{[]uint64{3, 1, 1}, 4},
		{[]uint64{1, 40}, 42}, // 40 is used, and so is the id beside it
		{[]uint64{1, 41}, 42},
		{[]uint64{1<<40 + 1, 1}, 1<<40 + 2},
	} {
		most := uint64(0)
		for _, n := range tt.largest {
			ids := IDs{Largest: n}
			c := ids.Choose()
			most = max(most, c.Offer())
		}
		for _, n := range tt.largest {
			ids := IDs{Largest: n}
			c := ids.Choose()
			if id, err := c.Take(most); id != tt.want || err != nil {
				t.Errorf("%v: id %d, %v, want %d", tt.largest, id, err, tt.want)
			}
			if ids.Largest != tt.want+1 {
				t.Errorf("%v: the largest is now %d, want %d", tt.largest, ids.Largest, tt.want+1)
			}
		}
	}
}

func TestIdsEndWhereIMPISays(t *testing.T) {
	ids := IDs{Largest: Most - 3}
	c := ids.Choose()
	if id, err := c.Take(c.Offer()); id != Most-2 || err != nil {
		t.Errorf("id %d, %v", id, err)
	}
	c.End()
	c = ids.Choose()
	if _, err := c.Take(c.Offer()); !errors.Is(err, ErrNoneLeft) {
		t.Errorf("error %v", err)
	}
	if ids.Largest != Most-1 {
		t.Errorf("what fails counts: the largest is %d", ids.Largest)
	}
}

// The largest that another process offers may be below what this one has used meanwhile.
func TestTakingAnIdLowersNoCount(t *testing.T) {
	ids := IDs{Largest: 101}
	c := ids.Choose()
	if id, err := c.Take(9); id != 10 || err != nil || ids.Largest != 101 {
		t.Errorf("id %d, %v, largest %d", id, err, ids.Largest)
	}
}

// Two processes come to two choices in different orders. Each fails one of them for all of its members, and IMPI's own
// bound makes another implementation fail, too.
func TestAProcessTakesPartInOneChoiceAtATime(t *testing.T) {
	a, b := IDs{Largest: 1}, IDs{Largest: 1}
	firstA, firstB := a.Choose(), b.Choose()
	secondA, secondB := a.Choose(), b.Choose()
	first := max(firstA.Offer(), secondB.Offer())
	second := max(secondA.Offer(), firstB.Offer())
	for _, most := range []uint64{first, second} {
		if most < Most-1 {
			t.Errorf("%d is an id for other implementations", most)
		}
	}
	for _, c := range []*Choice{&firstA, &secondB} {
		if _, err := c.Take(first); !errors.Is(err, ErrBusy) {
			t.Errorf("error %v", err)
		}
		c.End()
	}
	for _, c := range []*Choice{&secondA, &firstB} {
		if _, err := c.Take(second); !errors.Is(err, ErrBusy) {
			t.Errorf("error %v", err)
		}
		c.End()
	}
	c := a.Choose()
	if id, err := c.Take(c.Offer()); id != 2 || err != nil {
		t.Errorf("afterwards: id %d, %v", id, err)
	}
}

// A choice that was refused does not end the one that is under way.
func TestEndingARefusedChoiceLeavesTheOther(t *testing.T) {
	ids := IDs{Largest: 1}
	first, second := ids.Choose(), ids.Choose()
	second.End()
	if third := ids.Choose(); third.Offer() != busy {
		t.Error("a third takes part beside the first")
	}
	first.End()
	first.End()
	if fourth := ids.Choose(); fourth.Offer() != 1 {
		t.Error("a fourth does not take part after the first")
	}
}
