package auth

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPreferenceListsAreReadAsTheTextSays(t *testing.T) {
	tests := []struct {
		in   string
		want []int32 // nil: refused
	}{
		{"3,1-0", []int32{3, 1, 0}},
		{"1", []int32{1}},
		{"0,1", []int32{0, 1}},
		{"1-0", []int32{1, 0}},
		{"0-3", []int32{0, 1, 2, 3}},
		{"2-2", []int32{2}},
		{"1,1,0-2", []int32{1, 0, 2}},
		{"31", []int32{31}},
		{"", nil}, {",", nil}, {"1,", nil}, {"-1", nil}, {"1-", nil}, {"32", nil}, {"0-32", nil}, {"a", nil}, {"1 ", nil},
		{"1-2-3", nil}, {"+1", nil}, {"0x1", nil}, {"99999999999999999999", nil},
	}
	for _, tt := range tests {
		got, err := ParsePreference(tt.in)
		if (err == nil) != (tt.want != nil) || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, %v; want %v", tt.in, got, err, tt.want)
		}
	}
}

func TestKeysArePlainDecimals(t *testing.T) {
	good := map[string]uint64{"0": 0, "5678": 5678, "007": 7, "18446744073709551615": math.MaxUint64}
	for s, want := range good {
		if got, err := parseKey(s); err != nil || got != want {
			t.Errorf("%q: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "-1", "+1", "0x10", "5678junk", " 1", "1 ", "18446744073709551616", "1_000", "1e3"} {
		_, err := parseKey(s)
		if err == nil {
			t.Errorf("%q was accepted", s)
		} else if len(s) > 3 && strings.Contains(err.Error(), s) {
			t.Errorf("the key is shown: %v", err)
		}
	}
}

func TestTheEnvironmentEnablesMethods(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want Methods
		mask uint32
		err  bool
	}{
		{map[string]string{}, Methods{}, 0, true},
		{map[string]string{EnvNone: ""}, WithNone(), 1, false},
		{map[string]string{EnvKey: "9"}, WithKey(9), 2, false},
		{map[string]string{EnvKey: "9", EnvNone: "1"}, Methods{None: true, HasKey: true, Key: 9}, 3, false},
		{map[string]string{EnvKey: ""}, Methods{}, 0, true},
		{map[string]string{EnvKey: "x", EnvNone: ""}, Methods{}, 0, true},
		{map[string]string{EnvSecret: "x y"}, WithSecret("x y"), 1 << 30, false},
		{map[string]string{EnvSecret: "x", EnvTLS: "", EnvKey: "1"}, Methods{Secret: "x", TLS: true, HasKey: true, Key: 1},
			3<<30 | 2, false},
		{map[string]string{EnvTLS: "", EnvKey: "1"}, Methods{}, 0, true},
		{map[string]string{EnvTLS: "", EnvTLSCert: "a", EnvSecret: "x"}, Methods{}, 0, true},
		{map[string]string{EnvTLS: "", EnvTLSCert: "a", EnvTLSKey: "b", EnvTLSCA: "c"}, Methods{}, 0, true},
		{map[string]string{EnvSecretFile: "/nowhere"}, Methods{}, 0, true},
	}
	for _, tt := range tests {
		got, err := FromEnv(func(k string) (string, bool) { v, ok := tt.env[k]; return v, ok })
		if (err != nil) != tt.err || got != tt.want || got.Mask() != tt.mask {
			t.Errorf("%v: %+v, mask %d, %v", tt.env, got, got.Mask(), err)
		}
	}
	if _, err := FromEnv(func(string) (string, bool) { return "", false }); !errors.Is(err, ErrNoMethod) {
		t.Error(err)
	}
}

// S2: {NONE, KEY, both} enabled, every interesting mask, every kind of list.
func TestTheFirstCommonMethodIsChosen(t *testing.T) {
	both := Methods{None: true, HasKey: true}
	lists := map[string][]int32{"default": DefaultPreference,
		"1": {1}, "0,1": {0, 1}, "3,1-0": {3, 1, 0}, "1-0": {1, 0}, "0": {0}}
	tests := []struct {
		m    Methods
		mask uint32
		list string
		want int32 // -1: none
	}{
		{both, 3, "default", 1}, {both, 3, "0,1", 0}, {both, 3, "3,1-0", 1}, {both, 3, "1-0", 1}, {both, 3, "1", 1},
		{both, 1, "default", 0}, {both, 1, "1", -1}, {both, 2, "0,1", 1}, {both, 2, "0", -1},
		{both, 0, "default", -1}, {both, 0x80000000, "default", -1}, {both, 0x80000008, "3,1-0", -1},
		{both, 0xffffffff, "3,1-0", 1}, {WithNone(), 3, "default", 0}, {WithNone(), 2, "default", -1}, {WithNone(), 3, "1",
			-1}, {WithKey(1), 3, "0,1", 1}, {WithKey(1), 1, "0,1", -1}, {Methods{}, 3, "default", -1},
	}
	for _, tt := range tests {
		which, ok := tt.m.Choose(lists[tt.list], tt.mask)
		if !ok {
			which = -1
		}
		if which != tt.want {
			t.Errorf("%+v, mask %#x, -auth %s: %d, want %d", tt.m, tt.mask, tt.list, which, tt.want)
		}
	}
	if _, ok := both.Choose([]int32{-1, 32, 99}, 0xffffffff); ok {
		t.Error("chose a method that cannot be")
	}
}

func TestASecretsFileIsForItsOwnerAlone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "secret")
	read := func() (Methods, error) {
		return FromEnv(func(k string) (string, bool) { return map[string]string{EnvSecretFile: name}[k], k == EnvSecretFile })
	}
	for _, tt := range []struct {
		text string
		mode os.FileMode
		want string // "": refused
	}{
		{"one line\n", 0o600, "one line"}, {"no newline", 0o400, "no newline"}, {"first\r\nsecond\n", 0o600, "first"},
		{"one line\n", 0o640, ""}, {"one line\n", 0o604, ""}, {"\nx", 0o600, ""}, {"", 0o600, ""},
	} {
		os.Remove(name)
		if err := os.WriteFile(name, []byte(tt.text), tt.mode); err != nil {
			t.Fatal(err)
		}
		if m, err := read(); m.Secret != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q, mode %v: %q, %v", tt.text, tt.mode, m.Secret, err)
		}
	}
}

func FuzzParsePreference(f *testing.F) {
	f.Add("3,1-0")
	f.Add("31-0,0-31")
	f.Fuzz(func(t *testing.T, s string) {
		list, err := ParsePreference(s)
		if err == nil && (len(list) == 0 || len(list) > 32) {
			t.Errorf("%q: %v", s, list)
		}
	})
}
