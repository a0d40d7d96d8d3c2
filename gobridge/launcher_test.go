package main

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWhatAnotherProcessHasNotReadIsCounted(t *testing.T) {
	for name, open := range map[string]func() (int, int){
		"pipe": func() (int, int) {
			var p [2]int
			if err := unix.Pipe(p[:]); err != nil {
				t.Fatal(err)
			}
			return p[1], p[0]
		},
		"socket": func() (int, int) {
			p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				t.Fatal(err)
			}
			return p[1], p[0]
		},
	} {
		to, from := open()
		if n := unread(to); n != 0 {
			t.Errorf("%s: %d before anything is written", name, n)
		}
		unix.Write(to, []byte("why"))
		if n := unread(to); n <= 0 {
			t.Errorf("%s: %d of 3 bytes wait", name, n)
		}
		unix.Read(from, make([]byte, 9))
		if n := unread(to); n != 0 {
			t.Errorf("%s: %d when all is read", name, n)
		}
		unix.Close(to)
		unix.Close(from)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if n := unread(int(null.Fd())); n != 0 {
		t.Errorf("a device: %d", n)
	}
}
