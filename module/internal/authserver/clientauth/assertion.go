package clientauth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/clientassertion"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// assertionType is the only client_assertion_type that is supported (RFC 7523 section 2.2).
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// maxAssertion is the longest assertion that is read, in bytes.
const maxAssertion = 8 << 10

// errReplayed says that the assertion is good and was used before. Outside it looks like any other failure, so a
// replay tells nothing about a stolen assertion.
var errReplayed = errors.New("clientauth: a client assertion was presented again")

// readAssertion finds out which client the assertion claims to be of, and so which keys verify it (RFC 7521 section
// 4.2: client_id is optional beside an assertion).
func readAssertion(form httpx.Form) (credentials, error) {
	id, assertion := form.Get("client_id"), form.Get("client_assertion")
	switch {
	case assertion == "":
		return credentials{}, oauth.Parameter("client_assertion", "is missing")
	case form.Get("client_assertion_type") != assertionType:
		return credentials{}, oauth.Parameter("client_assertion_type", "must be "+assertionType)
	}
	claimed, ok := unverifiedSubject(assertion)
	switch {
	case !ok:
		return credentials{}, oauth.E(oauth.InvalidClient, "client_assertion is not a signed JWT with the client as its subject")
	case id != "" && id != claimed:
		return credentials{}, oauth.Parameter("client_id", "differs from the subject of client_assertion")
	}
	return credentials{pairs: []pair{{id: claimed}}, assertion: assertion}, nil
}

// unverifiedSubject reads the subject of an assertion that is not verified yet.
func unverifiedSubject(assertion string) (id string, ok bool) {
	if len(assertion) > maxAssertion || strings.Count(assertion, ".") != 2 {
		return "", false
	}
	claims := jose.DecodeClaims(strings.Split(assertion, ".")[1])
	id = claims.Text("sub")
	return id, claims.OK && pair{id: id}.clean()
}

// strangersKeys verify the assertions of clients without keys. Nobody kept the private key.
const strangersKeys = `{"keys":[{"kty":"EC","crv":"P-256",` +
	`"x":"1DrrMvZyaUcqvk4cJzdQBYbR3v7ftCBfBNXGkAhXtZY","y":"RF5K322MeT4gS2wyLp70GFJIuOtAEraa1tRkpUozamg"}]}`

// verifyAssertion reports whether the assertion is the client's and was not used before. Errors are technical, or
// [errReplayed], [errLate], [errEarly].
func (a *Authenticator) verifyAssertion(ctx context.Context, client *oauth.Client, id, assertion string) (bool, error) {
	set := client.JWKS
	if set == "" || client.AuthMethod != "" && client.AuthMethod != oauth.PrivateKeyJWT {
		set = strangersKeys
	}
	keys, err := clientassertion.ParseKeys(set)
	if err != nil { // it was checked when the client was made
		return false, err
	}
	good, err := keys.Verify(assertion, clientassertion.Rules{Client: id, Audience: a.Audience, Beside: a.Endpoints, Now: a.Now()})
	switch {
	case errors.Is(err, clientassertion.ErrExpired):
		return false, errLate
	case errors.Is(err, clientassertion.ErrEarly):
		return false, errEarly
	case err != nil:
		return false, nil // a bad assertion is no fault
	}
	return a.spendAssertion(ctx, id, good)
}

// The refusals of assertions whose signature is good and whose time is not: a client whose clock is wrong can tell.
// Whoever holds such an assertion can read its exp, so a thief learns nothing.
var (
	errLate = oauth.E(oauth.InvalidClient, fmt.Sprintf(
		"client_assertion has expired: exp is more than %.0f seconds ago by the clock of this server; compare the clocks, and sign a new one for each request", jose.Leeway.Seconds()))
	errEarly = oauth.E(oauth.InvalidClient, fmt.Sprintf(
		"client_assertion is not valid yet: iat or nbf is more than %.0f seconds ahead of the clock of this server; compare the clocks", jose.Leeway.Seconds()))
)

// clockMargin is how much longer a jti is remembered than this node accepts the assertion: the clock of the store, or
// of another node, may be different.
const clockMargin = time.Minute

// spendAssertion stores the assertion's jti for as long as the assertion could be presented again (RFC 7523 section
// 3, point 7; the mistake of CVE-2020-15222), and reports whether it was new on all nodes. An id has no NUL, so
// different pairs of client and jti have different keys.
func (a *Authenticator) spendAssertion(ctx context.Context, id string, good clientassertion.Assertion) (bool, error) {
	_, err := store.Create(ctx, a.Store, store.Record{
		Key:     store.Key{Kind: store.KindAssertion, ID: secret.Digest(id + "\x00" + good.ID)},
		Expires: good.Expires.Add(clockMargin),
	}, &store.Assertion{Client: id})
	if errors.Is(err, store.ErrExists) {
		err = errReplayed
	}
	return err == nil, err
}
