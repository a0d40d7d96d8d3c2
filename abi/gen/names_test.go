package main

import (
	"sort"
	"strings"
)

// keys lists the keys of m in order.
func keys[V any](m map[string]V) string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	sort.Strings(list)
	return strings.Join(list, " ")
}
