package serve

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAMachineOfAnApplicationFileEndsAtAnyWhiteSpace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app")
	if err := os.WriteFile(file, []byte("bar\t-client 1 $hostport a.out\n-np 2 b.out\nbaz"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := readAppFile(file)
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	var got []string
	for _, l := range list {
		got = append(got, l.machine)
	}
	if want := []string{"bar", "", "baz"}; !slices.Equal(got, want) || list[0].client != 1 || list[1].client != 1 {
		t.Errorf("%+v, want machines %q", list, want)
	}
}

func TestAnApplicationFileWithALineWithoutAnEndIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(file, []byte("# one\n"+strings.Repeat("x", 1<<17)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := readAppFile(file)
	if want := "-file: " + file + ", line 2: it has more than "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestWhatLetsClientsJoinReachesOtherMachines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"IMPI_AUTH_KEY": "7", "HOME": "/"}, "IMPI_AUTH_KEY=7\n"},
		{map[string]string{"IMPI_AUTH_SECRET": "a b'c", "IMPI_AUTH_TLS": ""}, "IMPI_AUTH_SECRET=a b'c\nIMPI_AUTH_TLS=\n"},
		{map[string]string{"IMPI_AUTH_SECRET_FILE": file}, "IMPI_AUTH_SECRET=from a file\n"},
		{map[string]string{"IMPI_AUTH_NONE": "", "IMPI_TLS_CA": "ca.pem"}, "IMPI_AUTH_NONE=\nIMPI_TLS_CA=ca.pem\n"},
		{map[string]string{"IMPI_AUTH_KEY": "1\nPATH=/"}, ""},
	} {
		got := secrets(func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok })
		if got != tt.want {
			t.Errorf("%v: %q, want %q", tt.env, got, tt.want)
		}
	}
}
