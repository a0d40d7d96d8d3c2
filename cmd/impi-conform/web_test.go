package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web"
)

func TestWebHasAnAddressOrNone(t *testing.T) {
	for _, x := range []struct {
		words []string
		want  webFlag
		ok    bool
	}{
		{nil, "", true}, {[]string{"-web"}, anyPort, true}, {[]string{"-web=0.0.0.0:80"}, "0.0.0.0:80", true},
		{[]string{"-web=false"}, "", true}, {[]string{"-web=80"}, "80", true}, {[]string{"-web="}, "", false},
	} {
		var f flags
		if err := f.set().Parse(x.words); (err == nil) != x.ok || x.ok && f.web != x.want {
			t.Errorf("%v: %q, %v", x.words, f.web, err)
		}
	}
}

func TestOtherMachinesNeedAToken(t *testing.T) {
	for _, x := range []struct {
		address, token string
		made           bool
	}{
		{"127.0.0.1:0", "", false}, {"0.0.0.0:0", "", true}, {"127.0.0.1:0", "0123456789abcdef", false},
		{"0.0.0.0:0", "0123456789abcdef", false},
	} {
		s, shown, err := open(web.Config{Address: x.address, Token: x.token, Log: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		_, made, ok := strings.Cut(shown, "?token=")
		if ok != x.made || s.Token != made && s.Token != x.token || ok && len(made) < 20 {
			t.Errorf("%s, %q: %s, %q", x.address, x.token, shown, s.Token)
		}
		s.Close()
	}
	if _, _, err := open(web.Config{Address: "127.0.0.1:x"}); err == nil {
		t.Error("there is no such port")
	}
}

func TestATokenThatIsNotGoodIsRefused(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"short": 0o600, "a-word-that-others-may-read": 0o644} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
		for _, address := range []webFlag{"127.0.0.1:0", "0.0.0.0:0"} {
			if code := serve(t.Context(), flags{web: address, token: file}, web.Config{}); code != codeUsage {
				t.Errorf("%s at %s: %d", name, address, code)
			}
		}
	}
}
