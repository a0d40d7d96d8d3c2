package auth

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/libimpi/libimpi/sockets/secure"
)

// What the methods of our own need from files.

// secretFrom reads the secret from an environment: itself, or the name of its file.
func secretFrom(lookup func(string) (string, bool)) (string, error) {
	if s, _ := lookup(EnvSecret); s != "" {
		return s, nil
	}
	name, _ := lookup(EnvSecretFile)
	if name == "" {
		return "", nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", EnvSecretFile, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("%s: %w", EnvSecretFile, err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: others can read or write %s (mode %v); chmod 600 it", EnvSecretFile, name,
			info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile))
	if err != nil {
		return "", fmt.Errorf("%s: %w", EnvSecretFile, err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("%s: %w", EnvSecretFile, errors.New("the first line of "+name+" is empty"))
	}
	return line, nil
}

// maxSecretFile is more than any secret has bytes.
const maxSecretFile = 64 << 10

// certificatesFrom reads the certificates that an environment names; nil if it names none.
func certificatesFrom(lookup func(string) (string, bool)) (*secure.Certificates, error) {
	cert, _ := lookup(EnvTLSCert)
	key, _ := lookup(EnvTLSKey)
	ca, _ := lookup(EnvTLSCA)
	switch {
	case cert == "" && key == "" && ca == "":
		return nil, nil
	case cert == "" || key == "" || ca == "":
		return nil, fmt.Errorf("%s, %s and %s belong together", EnvTLSCert, EnvTLSKey, EnvTLSCA)
	}
	return secure.LoadCertificates(cert, key, ca)
}
