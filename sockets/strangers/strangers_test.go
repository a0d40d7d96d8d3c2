package strangers

import (
	"fmt"
	"slices"
	"testing"
)

func TestACrowdKeepsOutItself(t *testing.T) {
	for _, tt := range []struct {
		list []Stranger
		want int
	}{
		{[]Stranger{{"a", 0}, {"b", 0}}, 0},
		{[]Stranger{{"a", 0}, {"b", 0}, {"b", 0}}, 1},
		{[]Stranger{{"a", 0}, {"b", 1}, {"b", 0}, {"b", 0}}, 2},
		{[]Stranger{{"b", 2}, {"b", 1}, {"a", 0}, {"b", 1}}, 1},
	} {
		if got := Evict(tt.list); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.list, got, tt.want)
		}
	}
}

func TestLinesAreFewHoweverManyStrangersCome(t *testing.T) {
	var l Lines
	var said []string
	for i := range 1 << 20 {
		if s := l.Fold(fmt.Sprint("stranger ", i)); s != "" {
			said = append(said, s)
		}
	}
	if len(said) != 8+17 || said[7] != "stranger 7" ||
		!slices.Contains(said, "stranger 15 (16 connections of strangers so far; not each is reported)") {
		t.Errorf("%d lines: %q", len(said), said)
	}
}
