package main

import "slices"

// ordered is a map that knows in which order its keys were first set. An entry that is removed from the middle leaves
// a gap, until there are as many gaps as entries or somebody asks for an entry by its number: so a program that makes
// very many keys, and takes them away in any order, pays for each alone.
type ordered[K comparable, V any] struct {
	entries []orderedEntry[K, V] // the first and the last are no gaps
	gaps    int
	before  int       // entries that have gone from the front
	places  map[K]int // by key: how many entries stood before it; nil while there are few
}

type orderedEntry[K comparable, V any] struct {
	key   K
	value V
	gap   bool
}

// fewEntries are found by looking at each.
const fewEntries = 16

func (o *ordered[K, V]) len() int { return len(o.entries) - o.gaps }

// at returns where the entry of a key stands, -1 if there is none.
func (o *ordered[K, V]) at(key K) int {
	if o.places != nil {
		if n, ok := o.places[key]; ok {
			return n - o.before
		}
		return -1
	}
	return slices.IndexFunc(o.entries, func(e orderedEntry[K, V]) bool { return e.key == key && !e.gap })
}

// find returns the value of a key, which stays in place until the next set or remove; nil if there is none.
func (o *ordered[K, V]) find(key K) *V {
	if i := o.at(key); i >= 0 {
		return &o.entries[i].value
	}
	return nil
}

// set stores a value; a key that is there keeps its place.
func (o *ordered[K, V]) set(key K, value V) {
	if v := o.find(key); v != nil {
		*v = value
		return
	}
	o.entries = append(o.entries, orderedEntry[K, V]{key: key, value: value})
	switch {
	case o.places != nil:
		o.places[key] = o.before + len(o.entries) - 1
	case len(o.entries) > fewEntries:
		o.close()
	}
}

func (o *ordered[K, V]) remove(key K) {
	i := o.at(key)
	if i < 0 {
		return
	}
	delete(o.places, key)
	o.entries[i] = orderedEntry[K, V]{gap: true}
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
	if o.gaps > o.len() {
		o.close()
	}
}

// close closes the gaps.
func (o *ordered[K, V]) close() {
	o.entries = slices.DeleteFunc(o.entries, func(e orderedEntry[K, V]) bool { return e.gap })
	o.gaps, o.before, o.places = 0, 0, nil
	if len(o.entries) <= fewEntries {
		return
	}
	o.places = make(map[K]int, len(o.entries))
	for i := range o.entries {
		o.places[o.entries[i].key] = i
	}
}

// nth returns entry n, of len.
func (o *ordered[K, V]) nth(n int) (K, V) {
	if o.gaps > 0 {
		o.close()
	}
	return o.entries[n].key, o.entries[n].value
}

// last returns the key that was set last; there is one.
func (o *ordered[K, V]) last() K { return o.entries[len(o.entries)-1].key }

// keys are all keys in order.
func (o *ordered[K, V]) keys() []K {
	keys := make([]K, 0, o.len())
	for i := range o.entries {
		if !o.entries[i].gap {
			keys = append(keys, o.entries[i].key)
		}
	}
	return keys
}

// clone copies all.
func (o *ordered[K, V]) clone() (c ordered[K, V]) {
	c.entries = slices.Clone(o.entries)
	c.close()
	return c
}
