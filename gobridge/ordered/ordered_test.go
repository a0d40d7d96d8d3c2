package ordered

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// An ordered map is what a list of keys and values is that is searched from the front.
func TestAnOrderedMapIsAListOfKeysAndValues(t *testing.T) {
	type pair struct{ key, value int }
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var o Map[int, int]
		var list []pair
		keys := 1 + random.IntN(100)
		for step := range 3000 {
			key := random.IntN(keys)
			i := slices.IndexFunc(list, func(p pair) bool { return p.key == key })
			switch random.IntN(6) {
			case 0, 1, 2:
				if o.Set(key, step); i >= 0 {
					list[i].value = step
				} else {
					list = append(list, pair{key, step})
				}
			case 3, 4:
				if o.Remove(key); i >= 0 {
					list = slices.Delete(list, i, i+1)
				}
			default:
				if len(list) > 0 {
					n := random.IntN(len(list))
					if k, v := o.Nth(n); k != list[n].key || v != list[n].value {
						t.Fatalf("seed %d, step %d: entry %d is %d: %d, not %v", seed, step, n, k, v, list[n])
					}
				}
			}
			if i = slices.IndexFunc(list, func(p pair) bool { return p.key == key }); (o.Find(key) != nil) != (i >= 0) {
				t.Fatalf("seed %d, step %d: key %d found: %t", seed, step, key, i < 0)
			} else if i >= 0 && *o.Find(key) != list[i].value {
				t.Fatalf("seed %d, step %d: key %d is %d, not %d", seed, step, key, *o.Find(key), list[i].value)
			}
			if o.Len() != len(list) || len(list) > 0 && o.Last() != list[len(list)-1].key {
				t.Fatalf("seed %d, step %d: %d entries, not %d, or another one is the last", seed, step, o.Len(), len(list))
			}
		}
		want := make([]int, len(list))
		for i, p := range list {
			want[i] = p.key
		}
		c := o.Clone()
		if !slices.Equal(o.Keys(), want) || !slices.Equal(c.Keys(), want) {
			t.Fatalf("seed %d: keys %v, in the copy %v, not %v", seed, o.Keys(), c.Keys(), want)
		}
	}
}

// What a key costs does not grow with the number of the others.
func TestGapsOfAnOrderedMapAreClosedSeldom(t *testing.T) {
	const n = 20000
	for name, order := range map[string]func(i int) int{
		"from the front": func(i int) int { return i },
		"from the back":  func(i int) int { return n - 1 - i },
		"from both ends": func(i int) int { return (i%2)*(n-1-i/2) + (1-i%2)*(i/2) },
		"in the middle":  func(i int) int { return (n/2 + i) % n },
		"scattered":      func(i int) int { return i * 7919 % n },
	} {
		var o Map[int, int]
		for i := range n {
			o.Set(i, i)
		}
		moved := 0
		for i := range n {
			before := len(o.entries)
			o.Remove(order(i))
			if len(o.entries) < before/2+1 && before > 2 {
				moved += before
			}
			if o.Find(order(i)) != nil || o.Len() != n-1-i {
				t.Fatalf("%s: %d entries after %d removals", name, o.Len(), i+1)
			}
		}
		if moved > 4*n {
			t.Errorf("%s: %d entries were moved", name, moved)
		}
	}
}
