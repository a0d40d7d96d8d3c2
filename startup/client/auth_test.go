package client_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/server"
)

const secret = "a secret of more than sixty-four bits, and of any length that a user may like"

// authority signs certificates into a directory.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, _ = x509.ParseCertificate(der)
	a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) write(name, typ string, der []byte) string {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// sign makes a certificate, and returns it with this authority as the one to trust.
func (a *authority) sign(name string) *secure.Certificates {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	private, _ := x509.MarshalPKCS8PrivateKey(key)
	c, err := secure.LoadCertificates(a.write(name+".pem", "CERTIFICATE", der),
		a.write(name+".key", "PRIVATE KEY", private), filepath.Join(a.dir, "ca.pem"))
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// record passes one connection on to addr, and keeps all that travels; change may alter what the client sends first.
func record(t *testing.T, addr string, change func([]byte)) (at string, seen func() []byte) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all bytes.Buffer
	var wg sync.WaitGroup
	tee := func(to, from net.Conn, first func([]byte)) {
		b := make([]byte, 64<<10)
		for {
			n, err := from.Read(b)
			if first != nil && n > 0 {
				first(b[:n])
				first = nil
			}
			mu.Lock()
			all.Write(b[:n])
			mu.Unlock()
			if _, bad := to.Write(b[:n]); err != nil || bad != nil {
				to.Close()
				from.Close()
				return
			}
		}
	}
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", addr)
			if err != nil {
				c.Close()
				return
			}
			wg.Go(func() { tee(s, c, change) })
			wg.Go(func() { tee(c, s, nil) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String(), func() []byte { mu.Lock(); defer mu.Unlock(); return bytes.Clone(all.Bytes()) }
}

func TestTheStrongestCommonMethodLetsClientsInAndOthersNot(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	all := auth.Methods{None: true, HasKey: true, Key: 9, Secret: secret, TLS: true}
	tests := []struct {
		name           string
		server, client auth.Methods
		hidden         bool   // what the client says of itself is not seen
		fails          string // "": the client gets in
	}{
		{"the secret", auth.WithSecret(secret), auth.WithSecret(secret), false, ""},
		{"another secret", auth.WithSecret(secret), auth.WithSecret("another"), false, "wrong IMPI_AUTH_SECRET"},
		{"the secret before the key", auth.Methods{HasKey: true, Key: 1, Secret: secret},
			auth.Methods{HasKey: true, Key: 2, Secret: secret}, false, ""},
		{"the key, where only one has the secret",
			auth.Methods{HasKey: true, Key: 1, Secret: secret}, auth.WithKey(1), false, ""},
		{"TLS with the secret", all, all, true, ""},
		{"TLS with another secret", auth.Methods{Secret: secret, TLS: true}, auth.Methods{Secret: "another", TLS: true}, true,
			"wrong IMPI_AUTH_SECRET"},
		{"the secret, where one does not want TLS", all, auth.Methods{Secret: secret}, false, ""},
		{"certificates",
			auth.Methods{TLS: true, Certs: ca.sign("a")}, auth.Methods{TLS: true, Certs: ca.sign("b")}, true, ""},
		{"certificates and the secret", auth.Methods{TLS: true, Certs: ca.sign("a"), Secret: secret},
			auth.Methods{TLS: true, Certs: ca.sign("b"), Secret: secret}, true, ""},
		{"a client's certificate of another authority", auth.Methods{TLS: true, Certs: ca.sign("a")},
			auth.Methods{TLS: true, Certs: other.sign("b")}, true, "TLS"},
		{"no certificate at the client", auth.Methods{TLS: true, Certs: ca.sign("a"), Secret: secret},
			auth.Methods{TLS: true, Secret: secret}, true, "closed by the server"},
		{"nothing in common", auth.WithKey(1), auth.WithSecret(secret), false, "no authentication method in common"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			addr, result := serve(t, server.Options{Clients: 1, Auth: tt.server})
			at, seen := record(t, addr, nil)
			_, s, err := client.Connect(t.Context(), at, 0, tt.client, contribution(7, 1, 1), client.Options{})
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("the error is %v, and should say %q", err, tt.fails)
				}
				if strings.Contains(err.Error(), secret) {
					t.Error("the secret is shown")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.Fini(), result()); err != nil {
				t.Error(err)
			}
			if bytes.Contains(seen(), []byte(secret)) {
				t.Error("the secret travels")
			}
			if hidden := !bytes.Contains(seen(), []byte("COLL")); hidden != tt.hidden {
				t.Errorf("hidden: %v, want %v", hidden, tt.hidden)
			}
		})
	}
}

// Who takes the stronger methods out of a client's offer gains nothing: the proof covers the offer.
func TestAnOfferThatSomebodyHasChangedIsNoticed(t *testing.T) {
	m := auth.Methods{Secret: secret, TLS: true}
	addr, _ := serve(t, server.Options{Clients: 1, Auth: m})
	at, _ := record(t, addr, func(b []byte) { b[8] &^= 0x80 }) // the bit of TLS
	_, _, err := client.Connect(t.Context(), at, 0, m, contribution(0, 1, 1), client.Options{})
	if err == nil || !strings.Contains(err.Error(), "wrong IMPI_AUTH_SECRET") {
		t.Fatal(err)
	}
}

// A server that does not know the secret cannot pretend to.
func TestAClientNoticesAServerWithoutTheSecret(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		io.CopyN(io.Discard, c, 12)
		c.Write(append([]byte{0, 0, 0, 30, 0, 0, 0, 32}, make([]byte, 32)...))
		io.CopyN(io.Discard, c, 64)
		c.Write(make([]byte, 32))
		io.Copy(io.Discard, c)
	}()
	_, _, err = client.Connect(t.Context(), l.Addr().String(), 0, auth.WithSecret(secret), contribution(0, 1, 1),
		client.Options{})
	if err == nil || !strings.Contains(err.Error(), "does not know our secret") {
		t.Fatal(err)
	}
}
