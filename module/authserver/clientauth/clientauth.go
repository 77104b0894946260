package clientauth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/attempt"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Methods are the authentication methods that work, by their names in metadata.
var Methods = []string{"client_secret_basic", "client_secret_post", "none"}

// Clients finds a client. ok is false for an unknown one; errors are technical.
type Clients interface {
	Client(ctx context.Context, id string) (c *oauth.Client, ok bool, err error)
}

// Config is what an [Authenticator] needs.
type Config struct {
	Clients Clients
	// Attempts counts the failures. It may be shared: the keys begin with "client:".
	Attempts *attempt.Book
	// Failures a minute that one client may have from one address.
	Failures int
	// ClientIP is the address of the sender, without port.
	ClientIP func(*http.Request) string
}

// Authenticator authenticates clients. It is safe for concurrent use.
type Authenticator struct {
	Config
	rule attempt.Rule
}

// New checks the configuration.
func New(c Config) (*Authenticator, error) {
	if c.Clients == nil || c.Attempts == nil || c.ClientIP == nil || c.Failures < 1 {
		return nil, errors.New("clientauth: an incomplete Config")
	}
	return &Authenticator{c, attempt.Rule{Limit: c.Failures, Window: time.Minute}}, nil
}

// stranger is compared with when there is no client: no secret has this digest
// that anybody knows.
var stranger = []string{secret.Digest("gatehouse: no client has this secret")}

// Authenticate returns the client that sent the request, whose form this is; its
// errors are *oauth.Error. It sets WWW-Authenticate in answer where RFC 6749
// section 5.2 asks for it.
//
// Only secrets are throttled: a request without one guesses nothing, and the users of
// a public client may share an address.
func (a *Authenticator) Authenticate(r *http.Request, form httpx.Form, answer http.Header) (*oauth.Client, error) {
	sent, refusal := read(r, form)
	if refusal == nil {
		var client *oauth.Client
		if client, refusal = a.check(r, sent); refusal == nil {
			return client, nil
		}
	}
	if refusal.Code == oauth.InvalidClient && sent.basic {
		answer.Set("WWW-Authenticate", `Basic realm="gatehouse", charset="UTF-8"`)
	}
	return nil, refusal
}

func (a *Authenticator) check(r *http.Request, sent credentials) (*oauth.Client, *oauth.Error) {
	guess := sent.pairs[0].secret != ""
	key := "client:" + sent.pairs[0].id + "|" + httpx.AddressKey(a.ClientIP(r))
	if guess {
		if refused, retry := a.Attempts.Refused(key, a.rule); refused {
			return nil, slowDown(retry)
		}
	}
	for _, p := range sent.pairs {
		client, err := a.match(r.Context(), p, sent.method())
		if err != nil {
			return nil, oauth.Unavailable(err)
		}
		if client != nil {
			return client, nil
		}
	}
	if guess {
		if ok, retry := a.Attempts.Take(key, a.rule); !ok {
			return nil, slowDown(retry)
		}
	}
	return nil, oauth.E(oauth.InvalidClient, "the client is unknown or its authentication failed")
}

// match returns the client if these are its credentials, else nil. It does the same
// work for an unknown client as for a wrong secret. A client that is held to one method
// is not helped by a right secret in the other: it may have been read where that
// method leaves traces.
func (a *Authenticator) match(ctx context.Context, p pair, method string) (*oauth.Client, error) {
	if len(p.id) > maxPart || len(p.secret) > maxPart {
		return nil, nil
	}
	client, known, err := a.Clients.Client(ctx, p.id)
	if err != nil {
		return nil, err
	}
	hashes := stranger
	if known && len(client.SecretHashes) > 0 {
		hashes = client.SecretHashes
	}
	digest := []byte(secret.Digest(p.secret))
	same := false
	for _, h := range hashes {
		if secret.Equal(digest, []byte(h)) {
			same = true
		}
	}
	switch {
	case !known:
		return nil, nil
	case client.Public:
		// A secret from a client that has none means that two clients are confused.
		if p.secret != "" {
			return nil, nil
		}
		return client, nil
	case p.secret == "" || len(client.SecretHashes) == 0 || !same, client.AuthMethod != "" && client.AuthMethod != method:
		return nil, nil
	}
	return client, nil
}

func slowDown(retry time.Duration) *oauth.Error {
	e := oauth.E(oauth.SlowDown, "too many failed authentications of this client, try again later")
	e.RetryAfter = max(1, int((retry+time.Second-1)/time.Second))
	return e
}
