package webguard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// A browser shows the token once, as http://HOST:PORT/?token=TOKEN or in the form that it gets without one, and gets a
// cookie for it, which follows from the token and is good as long as the command runs. Programs say
// Authorization: Bearer TOKEN.

// minToken is the least length of a token, in characters.
const minToken = 16

// ReadToken reads a token from a file: one word, of letters, digits and -._~ that need no escape in an address. Nobody
// but its owner may read the file.
func ReadToken(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: others than its owner may read or write it: chmod 600", file)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	strange := strings.IndexFunc(token, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-._~", r))
	})
	if len(token) < minToken || strange >= 0 {
		return "", fmt.Errorf("%s: a token has %d characters or more, of letters, digits and -._~", file, minToken)
	}
	return token, nil
}

// passOf is the value of a cookie.
func passOf(token, nonce string) string {
	m := hmac.New(sha256.New, []byte(token))
	m.Write([]byte(nonce))
	return hex.EncodeToString(m.Sum(nil))
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// NewToken returns a token that nobody can guess.
func NewToken() string { return rand.Text() }

// SetCookie sets a cookie for this page alone. Its name has the port, because browsers do not tell ports apart. It is
// strict: who follows a link from another site is asked for the token, or has no session, until he goes on from there;
// a form of another site is nothing in either case.
func (g *Guard) SetCookie(w http.ResponseWriter, name, value string) {
	http.SetCookie(w, &http.Cookie{Name: g.cookie(name), Value: value, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
}

// Cookie is the value of a cookie that SetCookie has set, "" if there is none.
func (g *Guard) Cookie(r *http.Request, name string) string {
	c, err := r.Cookie(g.cookie(name))
	if err != nil {
		return ""
	}
	return c.Value
}

func (g *Guard) cookie(name string) string { return fmt.Sprintf("impi-%s-%d", name, g.addr.Port()) }

// admit reports whether a request shows the token, or the cookie. If it does not, or shows the token in the address, it
// has been answered.
func (g *Guard) admit(w http.ResponseWriter, r *http.Request) bool {
	if word, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && equal(word, g.config.Token) {
		return true
	}
	if equal(g.Cookie(r, "token"), g.pass) {
		return true
	}
	if token := r.URL.Query().Get("token"); token != "" && equal(token, g.config.Token) && reads(r) {
		g.SetCookie(w, "token", g.pass)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(admitted)) // not a redirection: a cookie that is strict would not come with it from other sites
		return false
	}
	g.noteRequest(r, "the token is missing")
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.WriteHeader(http.StatusUnauthorized)
	w.Write([]byte(asking))
	return false
}

// The pages around a token: without styles and scripts.
const (
	admitted = `<!doctype html><html lang="en"><meta charset="utf-8"><title>The token is right</title>
<meta http-equiv="refresh" content="0; url=./"><p>The token is right. <a href="./">Go on to the page</a>.</p></html>
`
	asking = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A token is needed</title><h1>A token is needed</h1>
<form action="./"><label>Token <input name="token" type="password" required autocomplete="off"></label>
<button>Show the page</button></form></html>
`
)
