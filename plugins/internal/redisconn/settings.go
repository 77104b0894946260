package redisconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unique"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/plugins/internal/remote"
)

// Settings are a checked configuration. They are comparable: equal settings reach the same Redis
// as the same user. Printing them, or a value that contains them, reveals no secret.
type Settings struct {
	// Prefix is the prefix of every key.
	Prefix string
	// Timeout is how long one reply may take; 0 if none is configured.
	Timeout time.Duration

	mode             mode
	nodes            string // host:port, separated by commas
	master           string
	db               int
	username         string
	password         unique.Handle[string]
	sentinelUsername string
	sentinelPassword unique.Handle[string]

	secure     bool
	ca, cert   string // PEM
	key        unique.Handle[string]
	serverName string

	network *Network // nil: the real one
}

// hideText keeps a secret where neither fmt nor a logger that walks through structs can find it,
// and where it is still comparable.
func hideText(text string) unique.Handle[string] { return unique.Make(text) }

// revealText undoes hideText, also for zero settings.
func revealText(h unique.Handle[string]) string {
	if h == (unique.Handle[string]{}) {
		return ""
	}
	return h.Value()
}

// String returns the URL without the password.
func (s Settings) String() string {
	name := map[mode]string{single: "", sentinel: "+sentinel", cluster: "+cluster"}[s.mode]
	scheme := "redis"
	if s.secure {
		scheme = "rediss"
	}
	var user string
	if s.username != "" {
		user = s.username + "@"
	}
	path := ""
	if s.mode == sentinel {
		path = "/" + s.master
	}
	if s.mode != cluster {
		path += "/" + strconv.Itoa(s.db)
	}
	return scheme + name + "://" + user + s.nodes + path
}

// GoString implements fmt.GoStringer.
func (s Settings) GoString() string { return s.String() }

// Cluster reports whether keys are distributed among several servers.
func (s Settings) Cluster() bool { return s.mode == cluster }

// setTrust reads the TLS files: their content is part of the identity, so that a reload picks up
// changes.
func (s *Settings) setTrust(t *TLS, repl *caddy.Replacer) error {
	s.secure = true
	texts := make([]string, 4)
	for i, text := range []string{t.CA, t.Cert, t.Key, t.ServerName} {
		var err error
		if texts[i], err = repl.ReplaceOrErr(text, true, true); err != nil {
			return err
		}
	}
	s.serverName, s.ca = texts[3], t.trusted
	if (texts[1] == "") != (texts[2] == "") {
		return errors.New("cert and key belong together")
	}
	if texts[0] != "" {
		var err error
		if _, s.ca, err = remote.Roots(texts[0]); err != nil {
			return err
		}
	}
	if texts[1] == "" {
		return nil
	}
	cert, err := os.ReadFile(texts[1])
	if err != nil {
		return err
	}
	key, err := os.ReadFile(texts[2])
	if err != nil {
		return err
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return fmt.Errorf("%s and %s: %w", texts[1], texts[2], err)
	}
	s.cert, s.key = string(cert), hideText(string(key))
	return nil
}

// tlsConfig returns nil without TLS.
func (s Settings) tlsConfig() (*tls.Config, error) {
	if !s.secure {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.serverName}
	if s.ca != "" {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM([]byte(s.ca))
	}
	if s.cert != "" {
		pair, err := tls.X509KeyPair([]byte(s.cert), []byte(revealText(s.key)))
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Clean removes passwords from an error's text: a Redis that does not know a command repeats its
// arguments, including those of AUTH, and truncates long ones.
func (s Settings) Clean(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, secret := range []string{revealText(s.password), revealText(s.sentinelPassword)} {
		if secret == "" {
			continue
		}
		text = strings.ReplaceAll(text, secret, "***")
		if len(secret) > leastCut {
			text = withoutBeginning(text, secret)
		}
	}
	if text == err.Error() {
		return err
	}
	return &cleaned{text, err}
}

// leastCut is how many characters of a truncated secret must match to count as its beginning.
const leastCut = 16

// withoutBeginning removes the beginning of a secret, as far as the text contains it.
func withoutBeginning(text, secret string) string {
	for from := 0; ; {
		i := strings.Index(text[from:], secret[:leastCut])
		if i < 0 {
			return text
		}
		begin := from + i
		end := begin + leastCut
		for n := leastCut; end < len(text) && n < len(secret) && text[end] == secret[n]; n++ {
			end++
		}
		text = text[:begin] + "***" + text[end:]
		from = begin
	}
}

type cleaned struct {
	text string
	err  error
}

func (c *cleaned) Error() string { return c.text }

// Is and As see the original error; Unwrap would expose its text.
func (c *cleaned) Is(target error) bool { return errors.Is(c.err, target) }
func (c *cleaned) As(target any) bool   { return errors.As(c.err, target) }
