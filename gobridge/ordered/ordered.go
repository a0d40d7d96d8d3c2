// Package ordered has a map that keeps its keys in order: of attributes, and of what an info object says.
package ordered

import "slices"

// Map is a map that knows in which order its keys were first set. An entry that is removed from the middle leaves
// a gap, until there are as many gaps as entries or somebody asks for an entry by its number: so a program that makes
// very many keys, and takes them away in any order, pays for each alone.
type Map[K comparable, V any] struct {
	entries []entry[K, V] // the first and the last are no gaps
	gaps    int
	before  int       // entries that have gone from the front
	places  map[K]int // by key: how many entries stood before it; nil while there are few
}

type entry[K comparable, V any] struct {
	key   K
	value V
	gap   bool
}

// fewEntries are found by looking at each.
const fewEntries = 16

// Len is the number of keys.
func (o *Map[K, V]) Len() int { return len(o.entries) - o.gaps }

// at returns where the entry of a key stands, -1 if there is none.
func (o *Map[K, V]) at(key K) int {
	if o.places != nil {
		if n, ok := o.places[key]; ok {
			return n - o.before
		}
		return -1
	}
	return slices.IndexFunc(o.entries, func(e entry[K, V]) bool { return e.key == key && !e.gap })
}

// Find returns the value of a key, which stays in place until the next Set or Remove; nil if there is none.
func (o *Map[K, V]) Find(key K) *V {
	if i := o.at(key); i >= 0 {
		return &o.entries[i].value
	}
	return nil
}

// Set stores a value; a key that is there keeps its place.
func (o *Map[K, V]) Set(key K, value V) {
	if v := o.Find(key); v != nil {
		*v = value
		return
	}
	o.entries = append(o.entries, entry[K, V]{key: key, value: value})
	switch {
	case o.places != nil:
		o.places[key] = o.before + len(o.entries) - 1
	case len(o.entries) > fewEntries:
		o.close()
	}
}

// Remove takes a key away, if it is there.
func (o *Map[K, V]) Remove(key K) {
	i := o.at(key)
	if i < 0 {
		return
	}
	delete(o.places, key)
	o.entries[i] = entry[K, V]{gap: true}
	o.gaps++
	for n := len(o.entries); n > 0 && o.entries[n-1].gap; n = len(o.entries) {
		o.entries = o.entries[:n-1]
		o.gaps--
	}
	for len(o.entries) > 0 && o.entries[0].gap {
		o.entries = o.entries[1:]
		o.before++
		o.gaps--
	}
	if o.gaps > o.Len() {
		o.close()
	}
}

// close closes the gaps.
func (o *Map[K, V]) close() {
	o.entries = slices.DeleteFunc(o.entries, func(e entry[K, V]) bool { return e.gap })
	o.gaps, o.before, o.places = 0, 0, nil
	if len(o.entries) <= fewEntries {
		return
	}
	o.places = make(map[K]int, len(o.entries))
	for i := range o.entries {
		o.places[o.entries[i].key] = i
	}
}

// Nth returns entry n, of Len.
func (o *Map[K, V]) Nth(n int) (K, V) {
	if o.gaps > 0 {
		o.close()
	}
	return o.entries[n].key, o.entries[n].value
}

// Last returns the key that was set last; there is one.
func (o *Map[K, V]) Last() K { return o.entries[len(o.entries)-1].key }

// Keys are all keys in order.
func (o *Map[K, V]) Keys() []K {
	keys := make([]K, 0, o.Len())
	for i := range o.entries {
		if !o.entries[i].gap {
			keys = append(keys, o.entries[i].key)
		}
	}
	return keys
}

// Clone copies all.
func (o *Map[K, V]) Clone() (c Map[K, V]) {
	c.entries = slices.Clone(o.entries)
	c.close()
	return c
}
