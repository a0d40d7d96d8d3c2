package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestWebHasAnAddressOrNone(t *testing.T) {
	for _, x := range []struct {
		words []string
		want  webFlag
		ok    bool
	}{
		{nil, "", true}, {[]string{"-web"}, anyPort, true}, {[]string{"-web=0.0.0.0:80"}, "0.0.0.0:80", true},
		{[]string{"-web=false"}, "", true}, {[]string{"-web=80"}, "", false},
	} {
		var f flags
		if err := f.set().Parse(x.words); (err == nil) != x.ok || x.ok && f.web != x.want {
			t.Errorf("%v: %q, %v", x.words, f.web, err)
		}
	}
}

func TestOtherMachinesNeedAToken(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string {
		path := filepath.Join(dir, "token")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	here, all := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, &net.TCPAddr{IP: net.IPv4zero}
	if token, _, err := tokenOf(flags{}, here); token != "" || err != nil {
		t.Errorf("on this machine: %q, %v", token, err)
	}
	if token, shown, err := tokenOf(flags{}, all); len(token) < 20 || shown != token || err != nil {
		t.Errorf("for others: %q, %q, %v", token, shown, err)
	}
	for _, at := range []net.Addr{here, all} {
		token, shown, err := tokenOf(flags{token: file("0123456789abcdef\n")}, at)
		if token != "0123456789abcdef" || shown != "" || err != nil {
			t.Errorf("from a file: %q, %q, %v", token, shown, err)
		}
	}
	for _, path := range []string{file("short"), filepath.Join(dir, "none")} {
		if _, _, err := tokenOf(flags{token: path}, all); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
}
