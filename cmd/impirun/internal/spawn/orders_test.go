package spawn

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/startup"
)

// accepted is what the standard says of one triple (MPI 5.0, 11.8.4): a, a+c, a+2c ... up to the last that does not
// pass b.
func accepted(a, b, c, most int) (list []int) {
	for n := a; c > 0 && n <= b || c < 0 && n >= b; n += c {
		if n >= 0 && n <= most && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

func TestSoftIsAListOfRanges(t *testing.T) {
	if err := quick.Check(func(a, b, c int8, most uint8) bool {
		if c == 0 {
			c = 1
		}
		got, err := parseSoft(fmt.Sprintf("%d:%d:%d", a, b, c), int(most))
		if err != nil {
			return false
		}
		var list []int
		for n, ok := range got {
			if ok {
				list = append(list, n)
			}
		}
		return slices.Equal(list, accepted(int(a), int(b), int(c), int(most)))
	}, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
	for text, want := range map[string][]int{"3": {3}, "0:2": {0, 1, 2}, "1,4:10:3, 9": {1, 4, 7, 9, 10}, "90": nil,
		"10:0:-5": {0, 5, 10}, "2147483647:0:-2147483647": {0}} {
		got, err := parseSoft(text, 10)
		var list []int
		for n, ok := range got {
			if ok {
				list = append(list, n)
			}
		}
		if err != nil || !slices.Equal(list, want) {
			t.Errorf("%s: %v, %v", text, list, err)
		}
	}
	for _, text := range []string{"", "x", "1:", "1:2:3:4", "1:2:0", "1,,2", "99999999999"} {
		if _, err := parseSoft(text, 10); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestRanksCountThroughTheProcessesThatAreLeft(t *testing.T) {
	list := []order{{program: options.Program{N: 3}, accept: counts{true, true, false, true}},
		{program: options.Program{N: 2}, accept: exactly(2)}}
	for _, tt := range []struct {
		failed []string
		want   []int
		size   int
		ok     bool
	}{
		{[]string{"", "", "", "", ""}, []int{0, 1, 2, 3, 4}, 5, true},
		{[]string{"", "x", "", "", ""}, []int{0, -1, -1, 1, 2}, 3, true},
		{[]string{"x", "x", "x", "", ""}, []int{-1, -1, -1, 0, 1}, 2, true},
		{[]string{"", "", "", "", "x"}, nil, 0, false},
	} {
		numbers, size, ok := choose(list, tt.failed)
		if !slices.Equal(numbers, tt.want) || size != tt.size || ok != tt.ok {
			t.Errorf("%q: %v, %d, %v", tt.failed, numbers, size, ok)
		}
	}
}

func TestKeysCountInAnySpelling(t *testing.T) {
	for _, key := range []string{"map_bynode", "map-bynode", "MAP_BYNODE"} {
		c := startup.Command{Program: "p", Procs: 1, Info: [][2]string{{key, "true"}}}
		list, err := readOrders(&startup.Spawn{Commands: []startup.Command{c}}, &options.Program{}, nil)
		if err != nil || !list[0].inTurn {
			t.Errorf("%s: %+v, %v", key, list, err)
		}
	}
}

func TestAFileOfKeysWithALineWithoutAnEndIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(file, []byte("# one\n"+strings.Repeat("x", 1<<17)), 0o600); err != nil {
		t.Fatal(err)
	}
	err := new(order).readFile(file)
	if want := file + ", line 2: it has more than "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestPlacesFollowTheCommands(t *testing.T) {
	read := func(commands ...startup.Command) []order {
		list, err := readOrders(&startup.Spawn{Commands: commands}, &options.Program{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	on := func(n int32, hosts ...string) startup.Command {
		c := startup.Command{Program: "p", Procs: n}
		for _, h := range hosts {
			c.Info = append(c.Info, [2]string{"host", h})
		}
		return c
	}
	inTurn := on(4, "a:2,b:2")
	inTurn.Info = append(inTurn.Info, [2]string{"map_by", "node"})
	for _, tt := range []struct {
		list []order
		want string
	}{
		{read(on(3)), ""},
		{read(on(3, "a,b:2")), "a [0], b [1 2], "},
		{read(on(3, "a"), on(2, "a", "b")), "a [0 1 2 3], b [4], "},
		{read(on(1, "a"), on(2), on(1, "a")), "a [0 3], " + hosts.Hostname() + " [1 2], "},
		{read(inTurn), "a [0 2], b [1 3], "},
		{read(on(2, "a"), on(0, "b")), "a [0 1], "},
	} {
		where, err := placesOf(tt.list, &options.Plan{})
		got := ""
		for _, m := range where {
			got += fmt.Sprintf("%s %v, ", m.Name, m.Ranks)
		}
		if err != nil || got != tt.want {
			t.Errorf("%q, %v; want %q", got, err, tt.want)
		}
	}
}
