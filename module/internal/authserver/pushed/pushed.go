// Package pushed keeps pushed authorization requests (RFC 9126): the endpoint that takes them, and their use at the
// authorization endpoint, once. It does not know what a request must contain.
package pushed

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// uriPrefix begins every request_uri that we make (RFC 9126 section 2.2).
	uriPrefix = "urn:ietf:params:oauth:request_uri:"
	// life is how long a request_uri can be used.
	life = time.Minute
	// margin is how much longer than any form a used request is remembered.
	margin = 10 * time.Minute
)

// Endpoint keeps pushed authorization requests. As an endpoint it stands behind client authentication. All fields are
// needed.
type Endpoint struct {
	// Check makes all checks of the authorization endpoint. They are made again when the request is used. Refusals
	// are [oauth.Error]; other errors are technical.
	Check func(context.Context, query.Params) error
	Store store.Backend
	// Attempts counts the pushes of clients that anybody can make, under keys that begin with "par".
	Attempts *lockout.Book
	// Form is how long a sign-in may be in progress.
	Form    time.Duration
	Respond oauthhttp.Responder
	// ClientIP is the address of the sender, without port.
	ClientIP func(*http.Request) string
	Now      func() time.Time
}

// Anybody can push as a public client, and each push is written to the store: these limits bound what is there at one
// time to some megabytes a node, as pushes live a minute. The limit for all together is divided among networks (see
// package fairshare); clients with authentication do not count.
var (
	pushesOfAddress = lockout.Rule{Limit: 30, Window: time.Minute}
	pushesTogether  = lockout.Rule{Limit: 600, Window: time.Minute}
)

// pushAnswer is RFC 9126 section 2.2.
type pushAnswer struct {
	RequestURI string `json:"request_uri"`
	ExpiresIn  int64  `json:"expires_in"` // seconds
}

// Serve keeps the request of an authenticated client and answers with its request_uri.
func (e *Endpoint) Serve(w http.ResponseWriter, r *http.Request, client *oauth.Client, form httpx.Form) {
	uri, err := e.push(r, client, form)
	if err != nil {
		e.Refuse(w, r, form, err)
		return
	}
	e.Respond.WriteJSON(w, http.StatusCreated, pushAnswer{RequestURI: uri, ExpiresIn: int64(life / time.Second)})
}

// Refuse answers an error, also one that came before Serve.
func (e *Endpoint) Refuse(w http.ResponseWriter, r *http.Request, _ httpx.Form, err error) {
	e.Respond.WriteError(w, r, err)
}

func (e *Endpoint) push(r *http.Request, client *oauth.Client, form httpx.Form) (uri string, err error) {
	if err := e.countPush(r, client); err != nil {
		return "", err
	}
	p := pushedParams(form, client.ID)
	if p.Has("request_uri") { // RFC 9126 section 2.1
		return "", oauth.E(oauth.InvalidRequest, "a pushed request has no request_uri")
	}
	if err := e.Check(r.Context(), p); err != nil {
		return "", refusedRequest(err)
	}
	encoded := p.Encode()
	if len(encoded) > query.MaxSize {
		return "", oauth.E(oauth.InvalidRequest, "the request is too large").WithStatus(http.StatusRequestEntityTooLarge)
	}
	uri, err = e.keep(r.Context(), client.ID, encoded)
	return uri, refusal.OrUnavailable(err)
}

// refusedRequest is the refusal of the authorization endpoint in a form for the client's program.
func refusedRequest(err error) error {
	refused, ok := refusal.From(err)
	switch {
	case !ok:
		return oauth.Unavailable(err)
	case refused.Code == refusal.UnknownClient, refused.Code == oauth.InvalidRedirectURI:
		return oauth.E(oauth.InvalidRequest, refused.Description)
	}
	return refused.WithStatus(http.StatusBadRequest)
}

// countPush limits the pushes of clients without authentication, all together, and of each client that registered
// itself. Clients made by an operator are not limited.
func (e *Endpoint) countPush(r *http.Request, client *oauth.Client) error {
	ok, retry := true, time.Duration(0)
	switch {
	case client.Public:
		ip := e.ClientIP(r)
		ok, retry = e.Attempts.TakeShare("par:"+httpx.AddressKey(ip), pushesOfAddress, fairshare.From(ip), "par", pushesTogether, 1)
	case client.SelfRegistered:
		ok, retry = e.Attempts.Take("par:"+client.ID, pushesTogether)
	}
	return refusal.Limited(ok, retry)
}

// pushedParams are the parameters of the authorization request, without what authenticated the client.
func pushedParams(form httpx.Form, client string) query.Params {
	p := query.Params{{Name: "client_id", Value: client}}
	for _, name := range form.Names() {
		switch name {
		case "client_id", "client_secret", "client_assertion", "client_assertion_type":
			continue
		}
		for _, value := range form.All(name) {
			p = append(p, query.Param{Name: name, Value: value})
		}
	}
	return p
}

func (e *Endpoint) keep(ctx context.Context, client, encoded string) (uri string, err error) {
	name := secret.Token()
	expires := e.Now().Add(life)
	_, err = store.Create(ctx, e.Store, store.Record{Key: recordKey(secret.Digest(name)), Expires: expires},
		&store.Pushed{Client: client, Query: encoded, Expires: expires})
	return uriPrefix + name, err
}

func recordKey(id string) store.Key { return store.Key{Kind: store.KindPushed, ID: id} }

// Open returns the parameters that a request_uri of ours stands for, and the id under which they are stored.
// Everything besides client_id is ignored, because it came through the browser (RFC 9126 section 4, RFC 9101 section
// 5). If p has no request_uri of ours, it is returned as it is, and id is "": nothing is ever fetched. Refusals are
// [oauth.Error]; other errors are technical.
func (e *Endpoint) Open(ctx context.Context, p query.Params) (_ query.Params, id string, err error) {
	name, ours := strings.CutPrefix(p.Get("request_uri"), uriPrefix)
	if !ours || p.Count("request_uri") > 1 || p.Count("client_id") > 1 {
		return p, "", nil
	}
	gone := refusal.New(http.StatusBadRequest, refusal.Expired, "request_uri is unknown, was used, has expired or is another client's")
	if !secret.IsToken(name) {
		return p, "", gone
	}
	id = secret.Digest(name)
	var v store.Pushed
	_, err = store.Read(ctx, e.Store, recordKey(id), &v)
	if errors.Is(err, store.ErrNotFound) {
		return p, "", gone
	}
	if err != nil {
		return p, "", err
	}
	if v.Client != p.Get("client_id") || !e.Now().Before(v.Expires) {
		return p, "", gone
	}
	stored, refused := query.Parse(v.Query)
	if refused != nil {
		return p, "", refused
	}
	return stored, id, nil
}

// Spend uses up the pushed request with this id for what is about to be issued, whose record is called issued;
// created is when the request was made from it. Whoever issues the same again, because a form or an address was sent
// twice, is accepted; anything else made of the same request is refused. The mark that says so outlives every form
// that contains the request. The request itself stays until [Endpoint.Forget], so that a browser that was told to come
// again finds it. Refusals are [oauth.Error]; other errors are technical.
func (e *Endpoint) Spend(ctx context.Context, id string, created time.Time, issued string) error {
	mark := recordKey(store.PushedUseID(id))
	expires := created.Add(max(e.Form, life) + life + margin)
	_, err := store.Create(ctx, e.Store, store.Record{Key: mark, Expires: expires}, &store.PushedUse{Code: issued})
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	var used store.PushedUse
	if _, err := store.Read(ctx, e.Store, mark, &used); err != nil {
		return err
	}
	if used.Code != issued {
		return refusal.New(http.StatusBadRequest, refusal.AlreadyAnswered, "")
	}
	return nil
}

// Forget removes a pushed request that was spent, once its answer is stored. A fault does no harm: the request shows
// pages for the rest of its minute, but issues nothing else.
func (e *Endpoint) Forget(ctx context.Context, id string) {
	_ = e.Store.Delete(ctx, recordKey(id))
}
