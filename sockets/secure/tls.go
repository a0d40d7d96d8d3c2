package secure

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"os"
	"sync"
	"time"
)

// TLS 1.3. The two ends prove who they are in one of two ways: by certificates of one authority, which all must have
// then, or by the secret (secret.go), inside a channel whose certificate the accepting end has made up. Names in
// certificates are not compared: hosts of a job are known by their ranks, and whoever the authority has signed for may
// take part.

// Certificates are a user's own: the same authority for all who take part.
type Certificates struct {
	own tls.Certificate
	ca  *x509.CertPool
}

// LoadCertificates reads PEM files.
func LoadCertificates(cert, key, ca string) (*Certificates, error) {
	own, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("certificate authority: no certificate in %s", ca)
	}
	return &Certificates{own, pool}, nil
}

// ServerTLS is the configuration of the accepting end. c may be nil; then the secret must prove who is there. The error
// is that of making up a certificate.
func ServerTLS(c *Certificates) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true}
	if c != nil {
		conf.Certificates = []tls.Certificate{c.own}
		conf.ClientAuth, conf.ClientCAs = tls.RequireAndVerifyClientCert, c.ca
		return conf, nil
	}
	own, err := madeUp()
	if err != nil {
		return nil, err
	}
	conf.Certificates = []tls.Certificate{own}
	return conf, nil
}

// ClientTLS is how the connecting end is set up.
func ClientTLS(c *Certificates) *tls.Config {
	// Verification is our own, as names are not looked at.
	conf := &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}
	if c != nil {
		conf.Certificates = []tls.Certificate{c.own}
		conf.VerifyConnection = c.verify
	}
	return conf
}

// verify checks that the server's certificate is signed by the authority.
func (c *Certificates) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the other end has no certificate")
	}
	between := x509.NewCertPool()
	for _, cert := range state.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: c.ca, Intermediates: between,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	return err
}

// ChannelKeys is what both ends of one TLS channel know, and nobody else.
func ChannelKeys(c *tls.Conn) ([]byte, error) {
	state := c.ConnectionState()
	return state.ExportKeyingMaterial("EXPORTER-libimpi-authentication", nil, 32)
}

// madeUp is a certificate that nobody has signed; one for the life of the process.
var madeUp = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "IMPI job"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
})
