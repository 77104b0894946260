// Package clientauth authenticates clients at the endpoints that programs call (RFC 6749 sections 2.3 and 3.2.1): it
// reads and compares credentials and limits guesses. It does not know what an authenticated client may do.
package clientauth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Methods are the authentication methods that work, by their names in metadata.
var Methods = []string{"client_secret_basic", "client_secret_post", oauth.PrivateKeyJWT, "none"}

// Challenge is the WWW-Authenticate of a client that tried Basic, or has to (RFC 7617).
const Challenge = `Basic realm="gatehouse", charset="UTF-8"`

// Authenticator authenticates clients. It is safe for concurrent use. All fields are needed.
type Authenticator struct {
	// FindClient returns false for an unknown client; errors are technical.
	FindClient func(ctx context.Context, id string) (c *oauth.Client, ok bool, err error)
	// Attempts counts the failures. It may be shared: the keys begin with "client:" and "clients:".
	Attempts *lockout.Book
	// Failures a minute that one client may have from one address.
	Failures int
	// ClientIP is the address of the sender, without port.
	ClientIP func(*http.Request) string
	// Store remembers which assertions were used, for every node.
	Store store.Backend
	// Audience lists the names of this server that an assertion may be for: the issuer.
	Audience []string
	// Endpoints are the addresses at which clients authenticate; an assertion may name them besides.
	Endpoints []string
	// Audit records failures.
	Audit audit.Sink
	// Unknown is what Audit records for a client_id that no client has: what came instead may be a secret.
	Unknown func(ctx context.Context, id string) string
	Now     func() time.Time
}

// manyClients is how many clients may use up their failures from one address before all clients at that address share
// one count. Otherwise a single sender of random client_ids could fill the book of attempts.
const manyClients = 100

// Authenticate returns the client that sent the request, whose form this is; its errors are *oauth.Error. It sets
// WWW-Authenticate in answer where RFC 6749 section 5.2 asks for it.
//
// Only secrets and assertions are throttled: a request without one guesses nothing, and the users of a public client
// may share an address.
func (a *Authenticator) Authenticate(r *http.Request, form httpx.Form, answer http.Header) (*oauth.Client, error) {
	sent, err := readCredentials(r, form)
	if err == nil {
		var client *oauth.Client
		client, err = a.authenticate(r, &sent)
		switch {
		case err == nil && client.VariantB:
			return nil, errVariantB
		case err == nil:
			return client, nil
		}
		a.recordFailure(r.Context(), sent, err)
	}
	if errorCode(err) == oauth.InvalidClient && sent.basic {
		answer.Set("WWW-Authenticate", Challenge)
	}
	return nil, err
}

func errorCode(err error) oauth.Code {
	if e := (*oauth.Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func (a *Authenticator) recordFailure(ctx context.Context, sent credentials, refusal error) {
	e := audit.Event{Name: audit.ClientAuth, Reason: "refused"}
	switch errorCode(refusal) {
	case oauth.InvalidClient:
	case oauth.SlowDown:
		e.Reason = "limited"
		sent.known = a.knownClient(ctx, sent)
	default: // a fault is nothing about the client
		return
	}
	if errors.Is(refusal, errReplayed) {
		e.Reason = "replayed"
	}
	// Always called, so that the time does not tell whether there is such a client.
	if e.Client = a.Unknown(ctx, sent.pairs[0].id); sent.known != "" {
		e.Client = sent.known
	}
	a.Audit.Record(ctx, e)
}

// knownClient returns the client_id of credentials that were refused before the client was looked up, "" if no client
// has it.
func (a *Authenticator) knownClient(ctx context.Context, sent credentials) string {
	for _, p := range sent.pairs {
		if len(p.id) > maxPart {
			continue
		}
		if _, ok, err := a.FindClient(ctx, p.id); err == nil && ok {
			return p.id
		}
	}
	return ""
}

// Codes and tokens of one dialect are not valid at the endpoints of the other, so its clients are refused there too.
var errVariantB = oauth.E(oauth.UnauthorizedClient, "the client is one of Variant B and uses the addresses of that dialect")

var errRefused = oauth.E(oauth.InvalidClient, "the client is unknown or its authentication failed")

// ErrUnknownApp is in the refusal of an appid that no client of Variant B has. Clients of OAuth have none, whatever
// their secret: credentials of one dialect cannot be tried at the other.
var ErrUnknownApp = errors.New("clientauth: no client of Variant B has this appid")

// App returns the client of Variant B whose appid and secret these are. Errors are [oauth.Error]. An unknown appid
// takes as long as a wrong secret and counts as one.
func (a *Authenticator) App(r *http.Request, appid, secret string) (*oauth.Client, error) {
	sent := credentials{pairs: []pair{{id: appid, secret: secret}}, app: true}
	client, err := a.authenticate(r, &sent)
	if err != nil {
		a.recordFailure(r.Context(), sent, err)
		return nil, err
	}
	return client, nil
}

// authenticate returns the client whose credentials these are, unless too many have failed.
func (a *Authenticator) authenticate(r *http.Request, sent *credentials) (*oauth.Client, error) {
	g := a.guessesOf(sent, httpx.AddressKey(a.ClientIP(r)))
	if err := g.refuse(); err != nil {
		return nil, err
	}
	refusal := error(errRefused)
	for _, p := range sent.pairs {
		client, err := a.matchClient(r.Context(), p, sent)
		switch {
		case errors.Is(err, errReplayed), errors.Is(err, ErrUnknownApp):
			refusal = errRefused.WithCause(err)
		case errors.Is(err, errLate), errors.Is(err, errEarly):
			refusal = err
		case err != nil:
			return nil, oauth.Unavailable(err)
		case client != nil:
			// Of guesses that are tried at the same time, those that have failed by now count: otherwise all of
			// them could be tried however many are permitted.
			if err := g.refuse(); err != nil {
				return nil, err
			}
			return client, nil
		}
	}
	if err := g.count(); err != nil {
		return nil, err
	}
	return nil, refusal
}

// matchClient returns the client if these are its credentials, else nil. It does the same work for an unknown client
// as for a wrong secret. A client that is bound to one method is refused with right credentials in another: they may
// have been stolen where that method leaves traces.
func (a *Authenticator) matchClient(ctx context.Context, p pair, sent *credentials) (*oauth.Client, error) {
	switch {
	case len(p.id) > maxPart && sent.app:
		return nil, ErrUnknownApp
	case len(p.id) > maxPart:
		return nil, nil
	}
	client, known, err := a.FindClient(ctx, p.id)
	if err != nil {
		return nil, err
	}
	if known {
		sent.known = p.id
	}
	if len(p.secret) > maxPart {
		return nil, nil
	}
	known = known && (client.VariantB || !sent.app)
	if !known {
		client = unknownClient
	}
	same := false
	if sent.assertion != "" {
		same, err = a.verifyAssertion(ctx, client, p.id, sent.assertion)
	} else {
		same = knowsSecret(client, p.secret)
	}
	switch {
	case err != nil:
		return nil, err
	case !known && sent.app:
		return nil, ErrUnknownApp
	case !known:
		return nil, nil
	case client.Public:
		// Credentials from a client that has none mean that two clients are confused.
		if p.secret != "" || sent.assertion != "" {
			return nil, nil
		}
		return client, nil
	case !same, client.AuthMethod != "" && client.AuthMethod != sent.method() && !sent.app:
		return nil, nil
	}
	return client, nil
}

// unknownClient stands in for an unknown client.
var unknownClient = new(oauth.Client)

// unknownSecret is compared with if there is no secret: nobody knows a secret with this digest.
var unknownSecret = []string{secret.Digest("gatehouse: no client has this secret")}

func knowsSecret(client *oauth.Client, sent string) bool {
	hashes := client.SecretHashes
	if len(hashes) == 0 {
		hashes = unknownSecret
	}
	digest := []byte(secret.Digest(sent))
	same := false
	for _, h := range hashes {
		same = secret.Equal(digest, []byte(h)) || same
	}
	return same && sent != "" && len(client.SecretHashes) > 0
}
