package inquiry

import (
	"errors"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestALauncherIsFoundAndAnswers(t *testing.T) {
	l, err := Listen(func(f Format) []byte { return []byte("answer as " + f) })
	if err != nil {
		t.Fatal(err)
	}
	self := Job{os.Getpid(), os.Geteuid()}
	list, err := List()
	if err != nil || !slices.Contains(list, self) {
		t.Fatalf("%v, %v", list, err)
	}
	for _, f := range []Format{Text, JSON} {
		if got, err := Ask(self, f); err != nil || string(got) != "answer as "+string(f) {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, err := Ask(self, "word"); err == nil {
		t.Errorf("a word that there is not is answered: %q", got)
	}
	conn, err := net.Dial("unix", nameOf(self))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write([]byte(strings.Repeat("x", 1000)))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a word without an end is answered")
	}
	l.Close()
	if _, err := Ask(self, Text); err == nil {
		t.Error("asked although it is closed")
	}
}

func TestAnotherUsersJobIsRefused(t *testing.T) {
	if _, err := Ask(Job{1, os.Geteuid() + 1}, Text); !errors.Is(err, ErrForeign) {
		t.Errorf("%v", err)
	}
}

func TestNamesOfSocketsAreRead(t *testing.T) {
	const text = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 1 @impi-stat-1000-77
0000000000000000: 00000003 00000000 00000000 0001 03 2 @impi-stat-1000-77
0000000000000000: 00000002 00000000 00010000 0001 01 3 @impi-stat-0-5
0000000000000000: 00000002 00000000 00010000 0001 01 4 @impi-stat-0-05
0000000000000000: 00000002 00000000 00010000 0001 01 5 @impi-stat-0
0000000000000000: 00000002 00000000 00010000 0001 01 6 @impi-stat-x-y

0000000000000000: 00000002 00000000 00010000 0001 01 7 /run/@impi-stat-1-2
0000000000000000: 00000002 00000000 00010000 0001 01 8
`
	got, err := parse(strings.NewReader(text))
	if want := []Job{{5, 0}, {77, 1000}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
