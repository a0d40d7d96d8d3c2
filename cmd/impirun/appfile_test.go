package main

import (
	"os"
	"path/filepath"
	"testing"
)

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
