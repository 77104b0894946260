package authserver

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
	// pushedPrefix begins every request_uri that we make (RFC 9126 section 2.2).
	pushedPrefix = "urn:ietf:params:oauth:request_uri:"
	// pushedLife is how long one can be used.
	pushedLife = time.Minute
)

// Anybody can push as a public client, and each push is written to the store: these
// bound what stands there at one time to some megabytes a node, as pushes live a minute.
// What all may push together is divided among networks (see package fairshare), and clients
// with authentication do not share in it.
var (
	pushesOfAddress = lockout.Rule{Limit: 30, Window: time.Minute}
	pushesTogether  = lockout.Rule{Limit: 600, Window: time.Minute}
)

// pushAnswer is RFC 9126 section 2.2.
type pushAnswer struct {
	RequestURI string `json:"request_uri"`
	ExpiresIn  int64  `json:"expires_in"` // seconds
}

// par is the pushed authorization request endpoint (RFC 9126).
func (s *Server) par(w http.ResponseWriter, r *http.Request) {
	answer, err := s.push(r, w.Header())
	if err != nil {
		s.respond.WriteError(w, err)
		return
	}
	s.respond.WriteJSON(w, http.StatusCreated, answer)
}

func (s *Server) push(r *http.Request, header http.Header) (pushAnswer, error) {
	form, err := oauthhttp.ReadForm(r, "resource")
	if err != nil {
		return pushAnswer{}, err
	}
	client, err := s.token.clients.Authenticate(r, form, header)
	if err != nil {
		return pushAnswer{}, err
	}
	if client.VariantB {
		return pushAnswer{}, oauth.E(oauth.UnauthorizedClient, "this client is one of Variant B, which has no pushed requests")
	}
	if err := s.mayPush(r, client); err != nil {
		return pushAnswer{}, err
	}
	p := pushedParams(form, client.ID)
	if p.Has("request_uri") { // RFC 9126 section 2.1
		return pushAnswer{}, oauth.E(oauth.InvalidRequest, "a pushed request has no request_uri")
	}
	if err := s.signIn.judge(r.Context(), p); err != nil {
		return pushAnswer{}, err
	}
	encoded := p.Encode()
	if len(encoded) > query.MaxSize {
		return pushAnswer{}, oauth.E(oauth.InvalidRequest, "the request is too large").WithStatus(http.StatusRequestEntityTooLarge)
	}
	uri, err := s.keepPushed(r.Context(), client.ID, encoded)
	if err != nil {
		return pushAnswer{}, oauth.Unavailable(err)
	}
	return pushAnswer{RequestURI: uri, ExpiresIn: int64(pushedLife / time.Second)}, nil
}

// mayPush counts the pushes of clients that nobody authenticated, all together, and of
// each that nobody knows. Those that an operator made push what they like.
func (s *Server) mayPush(r *http.Request, client *oauth.Client) error {
	ok, retry := true, time.Duration(0)
	switch {
	case client.Public:
		ip := s.ClientIP(r)
		ok, retry = s.Attempts.TakeShare("par:"+httpx.AddressKey(ip), pushesOfAddress, fairshare.From(ip), "par", pushesTogether, 1)
	case client.SelfRegistered:
		ok, retry = s.Attempts.Take("par:"+client.ID, pushesTogether)
	}
	if ok {
		return nil
	}
	return refusal.TooMany(retry)
}

// pushedParams are the parameters of the authorization request, without what
// authenticated the client.
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

// judge makes all checks of the authorization endpoint, whose refusals are for the
// client's program here. They are made again when the request is used.
func (s *signIn) judge(ctx context.Context, p query.Params) error {
	client, err := s.identify(ctx, p)
	if refused, ok := refusal.From(err); ok {
		return oauth.E(oauth.InvalidRequest, refused.Description)
	}
	if err != nil {
		return oauth.Unavailable(err)
	}
	q, _, err := s.check(p, client)
	if err != nil {
		return oauthhttp.AsError(err).WithStatus(http.StatusBadRequest)
	}
	return refusal.OrUnavailable(s.readHint(ctx, p, q))
}

func (s *Server) keepPushed(ctx context.Context, client, encoded string) (uri string, err error) {
	name := secret.Token()
	expires := s.Now().Add(pushedLife)
	value, err := store.Encode(&store.Pushed{Client: client, Query: encoded, Expires: expires})
	if err != nil {
		return "", err
	}
	_, err = s.Store.Create(ctx, store.Record{Key: pushedKey(secret.Digest(name)), Value: value, Expires: expires})
	return pushedPrefix + name, err
}

func pushedKey(id string) store.Key { return store.Key{Kind: store.KindPushed, ID: id} }

// pushed gives the parameters that a request_uri of ours stands for; id is where they are
// stored, "" when the request names none. Everything besides client_id is ignored, as it
// came through the browser (RFC 9126 section 4, RFC 9101 section 5). A request_uri of
// another form stays in p, for check to refuse: nothing is ever fetched.
func (s *signIn) pushed(ctx context.Context, p query.Params) (_ query.Params, id string, err error) {
	name, ours := strings.CutPrefix(p.Get("request_uri"), pushedPrefix)
	if !ours || p.Count("request_uri") > 1 || p.Count("client_id") > 1 {
		return p, "", nil
	}
	gone := refusal.New(http.StatusBadRequest, refusal.Expired, "request_uri is unknown, was used, has expired or is another client's")
	if !secret.IsToken(name) {
		return p, "", gone
	}
	id = secret.Digest(name)
	var v store.Pushed
	_, err = store.Read(ctx, s.Store, pushedKey(id), &v)
	if errors.Is(err, store.ErrNotFound) {
		return p, "", gone
	}
	if err != nil {
		return p, "", err
	}
	if v.Client != p.Get("client_id") || !s.Now().Before(v.Expires) {
		return p, "", gone
	}
	stored, refused := query.Parse(v.Query)
	if refused != nil {
		return p, "", refused
	}
	return stored, id, nil
}

// spend uses a pushed request up for what is about to be issued, whose record is called
// issued. The same form sent twice comes to the same and may go on; anything else made of
// the same request does not, in whichever browser. The mark outlives every form that the
// request is sealed in, and the request itself goes only after it is there: a crash in
// between leaves one that shows pages and leads nowhere.
func (s *signIn) spend(ctx context.Context, q *request, issued string) error {
	if q.Pushed == "" {
		return nil
	}
	value, err := store.Encode(&store.PushedUse{Code: issued})
	if err != nil {
		return err
	}
	mark := store.Record{
		Key: pushedKey(store.PushedUseID(q.Pushed)), Value: value,
		Expires: q.Created.Add(max(s.Lifetimes.Request, pushedLife) + pushedLife + codeMargin),
	}
	_, err = s.Store.Create(ctx, mark)
	switch {
	case err == nil:
		return s.Store.Delete(ctx, pushedKey(q.Pushed))
	case !errors.Is(err, store.ErrExists):
		return err
	}
	var used store.PushedUse
	if _, err := store.Read(ctx, s.Store, mark.Key, &used); err != nil {
		return err
	}
	if used.Code != issued {
		return refusal.New(http.StatusBadRequest, refusal.AlreadyAnswered, "")
	}
	return nil
}
