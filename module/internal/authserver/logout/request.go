package logout

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/authserver/userclaims"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const useRequest = "end session" // of the keys' secret

// request is a sign-out that a client asks for (section 2 of RP-Initiated Logout). On its way
// through the page that asks the user it travels sealed, like an authorization request, so that
// nobody can change where the browser goes afterwards.
type request struct {
	Client  string    `json:"client,omitempty"` // "" for none or an unknown one
	To      string    `json:"to,omitempty"`     // a registered address; "" to stay here
	State   string    `json:"state,omitempty"`
	Locales string    `json:"locales,omitempty"`
	Created time.Time `json:"at"`

	client *oauth.Client
	hint   token.ID // of an id_token of ours; zero without one
}

// readRequest checks the parameters. What only spoils the way back (an unknown client, an
// address that is not registered, an id_token that is no longer readable) does not keep the user
// from signing out: the page then stays here.
func (e *Endpoint) readRequest(ctx context.Context, p query.Params) (*request, error) {
	if p.Repeated() != "" || p.Count("resource") > 1 {
		return nil, oauth.E(oauth.InvalidRequest, "a parameter is repeated")
	}
	q := &request{Client: p.Get("client_id"), Locales: p.Locales(), Created: e.Now()}
	if raw := p.Get("id_token_hint"); raw != "" {
		id, err := e.ReadHint(ctx, raw)
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
	if len(state) > query.MaxState {
		return nil, oauth.E(oauth.InvalidRequest, "state is longer than 4096 bytes")
	}
	return q, e.setReturn(ctx, q, p.Get("post_logout_redirect_uri"), state)
}

// setReturn sets the way back in q if the client has registered exactly this address.
func (e *Endpoint) setReturn(ctx context.Context, q *request, to, state string) error {
	id := q.Client
	q.Client, q.To, q.State, q.client = "", "", "", nil
	if id == "" {
		return nil
	}
	client, ok, err := e.Clients.Client(ctx, id)
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

// speaksFor reports whether the client need not ask: it holds an id_token about this very session. If the id_token is
// about another user, another session of the same user, or none, as those of the password grant, the user is asked
// (section 4).
func (q *request) speaksFor(who session.SignedIn) bool {
	return q.hint.Subject == who.Session.Subject && q.hint.Session != "" && q.hint.Session == userclaims.SessionID(who.Digest)
}

// title is the name of the client that asks, "" for none.
func (q *request) title() string {
	if q.client == nil {
		return ""
	}
	return q.client.Title()
}

// seal returns the form's value, "" when there is nothing to remember.
func (q *request) seal(b session.Browser) (string, error) {
	if q.Client == "" && q.Locales == "" {
		return "", nil
	}
	plain, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	return b.Seal(useRequest, plain), nil
}

// openRequest opens what the form brought back. A page that lay open for long still signs out, without a way back:
// what is registered may have changed since, and is looked up again in any case.
func (e *Endpoint) openRequest(ctx context.Context, b session.Browser, sealed string) (*request, error) {
	q := new(request)
	if sealed == "" {
		return q, nil
	}
	plain, err := b.Open(useRequest, sealed)
	if err != nil || json.Unmarshal(plain, q) != nil {
		return nil, refusal.Forbid()
	}
	if e.Now().Sub(q.Created) >= e.FormLife {
		return &request{Locales: q.Locales}, nil
	}
	return q, e.setReturn(ctx, q, q.To, q.State)
}

// clientParams are those of section 2 that mean something here.
var clientParams = []string{"id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"}

// clientRequest returns the query of the same request as a GET, "" when the form is not a
// client's. A post from another site comes without our cookies, and so cannot be answered itself.
func clientRequest(form httpx.Form) string {
	if form.Get("token") != "" {
		return ""
	}
	var p query.Params
	for _, name := range clientParams {
		if value := form.Get(name); value != "" {
			p = append(p, query.Param{Name: name, Value: value})
		}
	}
	return p.Encode()
}
