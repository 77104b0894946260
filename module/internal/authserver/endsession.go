package authserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/userclaims"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// endSession is a sign-out that a client asks for (OpenID Connect RP-Initiated Logout 1.0
// section 2). On its way through the page that asks the user it travels sealed, like an
// authorization request, so that nobody can change where the browser goes afterwards.
type endSession struct {
	Client  string    `json:"client,omitempty"` // "" for none or an unknown one
	To      string    `json:"to,omitempty"`     // a registered address; "" to stay here
	State   string    `json:"state,omitempty"`
	Locales string    `json:"locales,omitempty"`
	Created time.Time `json:"at"`

	client *oauth.Client
	hint   token.ID // of an id_token of ours; zero without one
}

// readEndSession checks the parameters. What only spoils the way back (an unknown client,
// an address that is not registered, an id_token that is no longer readable) does not keep
// the user from signing out: the page then stays here.
func (s *signIn) readEndSession(ctx context.Context, p query.Params) (*endSession, error) {
	if p.Repeated() != "" || p.Count("resource") > 1 {
		return nil, oauth.E(oauth.InvalidRequest, "a parameter is repeated")
	}
	q := &endSession{Client: p.Get("client_id"), Locales: locales(p), Created: s.Now()}
	if raw := p.Get("id_token_hint"); raw != "" {
		id, err := s.Tokens.ReadHint(ctx, raw)
		switch {
		case errors.Is(err, token.ErrInvalid):
		case err != nil:
			return nil, err
		case q.Client != "" && q.Client != id.Client:
			return nil, oauth.E(oauth.InvalidRequest, "client_id is not the client of id_token_hint")
		default:
			q.Client, q.hint = id.Client, id
		}
	}
	state := p.Get("state")
	if len(state) > maxState {
		return nil, oauth.E(oauth.InvalidRequest, "state is longer than 4096 bytes")
	}
	return q, s.leadsBack(ctx, q, p.Get("post_logout_redirect_uri"), state)
}

// leadsBack takes the way back into q if the client has registered exactly this address.
func (s *signIn) leadsBack(ctx context.Context, q *endSession, to, state string) error {
	id := q.Client
	q.Client, q.To, q.State, q.client = "", "", "", nil
	if id == "" {
		return nil
	}
	client, ok, err := s.Clients.Client(ctx, id)
	switch {
	case err != nil:
		return err
	case !ok:
		q.hint = token.ID{}
		return nil
	}
	q.Client, q.client = id, client
	if slices.Contains(client.PostLogoutRedirectURIs, to) {
		q.To, q.State = to, state
	}
	return nil
}

// speaksFor reports whether the client need not ask: it holds an id_token about this very
// session. One about another user, or another session of the same user, asks for something
// that is not the case, and so the user is asked (section 4 of the same).
func (q *endSession) speaksFor(who *person) bool {
	return q.hint.Subject == who.user.ID && (q.hint.Session == "" || q.hint.Session == userclaims.SessionID(who.digest))
}

// title is the name of the client that asks, "" for none.
func (q *endSession) title() string {
	if q.client == nil {
		return ""
	}
	return q.client.Title()
}

// sealed is the form's value, "" when there is nothing to remember.
func (q *endSession) sealed(b browser) (string, error) {
	if q.Client == "" && q.Locales == "" {
		return "", nil
	}
	plain, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	return b.keys.Seal(useEndSession, plain, []byte(b.id)), nil
}

// resumeEndSession opens what the form brought back. A page that lay open for long still
// signs out, without a way back: what is registered may have changed since, and is looked
// up again in any case.
func (s *signIn) resumeEndSession(ctx context.Context, b browser, sealed string) (*endSession, error) {
	q := new(endSession)
	if sealed == "" {
		return q, nil
	}
	plain, err := b.keys.Open(useEndSession, sealed, []byte(b.id))
	if err != nil || json.Unmarshal(plain, q) != nil {
		return nil, errForbidden
	}
	if s.Now().Sub(q.Created) >= s.Lifetimes.Request {
		return &endSession{Locales: q.Locales}, nil
	}
	return q, s.leadsBack(ctx, q, q.To, q.State)
}

// endSessionParams are those of section 2 that mean something here.
var endSessionParams = []string{"id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"}

// relayed gives the query of the same request as a GET, "" when the form is not a client's.
// A post from another site comes without our cookies, and so cannot be answered itself.
func relayed(form httpx.Form) string {
	if form.Get("token") != "" {
		return ""
	}
	var p query.Params
	for _, name := range endSessionParams {
		if value := form.Get(name); value != "" {
			p = append(p, query.Param{Name: name, Value: value})
		}
	}
	return p.Encode()
}
