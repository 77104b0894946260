package deviceauthz

import (
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/audience"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Endpoint is the device authorization endpoint, behind client authentication. All fields are needed.
type Endpoint struct {
	GrantTypes grant.Rules
	Audiences  audience.Config
	Tickets    *crossdevice.Tickets
	// EntryPage is the URL of the page on which short codes are typed.
	EntryPage string
	// Attempts counts the requests of public clients, under keys that begin with "ticket:device" and "device".
	Attempts *lockout.Book
	Respond  oauthhttp.Responder
	// ClientIP is the address of the sender, without port.
	ClientIP func(*http.Request) string
}

// Anybody can ask as a public client, and each ticket is two records for twenty minutes: these
// limits bound what is in the store at one time to some megabytes a node. What all may ask
// together is divided among networks (see package fairshare).
var (
	devicesOfAddress = lockout.Rule{Limit: 20, Window: time.Minute}
	devicesTogether  = lockout.Rule{Limit: 600, Window: time.Minute}
)

// deviceAnswer is RFC 8628 section 3.2.
type deviceAnswer struct {
	DeviceCode  string `json:"device_code"`
	UserCode    string `json:"user_code"`
	Entry       string `json:"verification_uri"`
	EntryFilled string `json:"verification_uri_complete"`
	ExpiresIn   int64  `json:"expires_in"` // seconds
	Interval    int64  `json:"interval"`   // seconds
}

// Serve gives an authenticated client a device code and a short code.
func (e *Endpoint) Serve(w http.ResponseWriter, r *http.Request, client *oauth.Client, form httpx.Form) {
	answer, err := e.begin(r, client, form)
	if err != nil {
		e.Refuse(w, r, form, err)
		return
	}
	e.Respond.WriteJSON(w, http.StatusOK, answer)
}

// Refuse answers an error, also one that came before Serve.
func (e *Endpoint) Refuse(w http.ResponseWriter, r *http.Request, _ httpx.Form, err error) {
	e.Respond.WriteError(w, r, err)
}

func (e *Endpoint) begin(r *http.Request, client *oauth.Client, form httpx.Form) (deviceAnswer, error) {
	if err := e.GrantTypes.CheckGrantType(client, oauth.DeviceCode); err != nil {
		return deviceAnswer{}, err
	}
	if err := e.countRequest(r, client); err != nil {
		return deviceAnswer{}, err
	}
	ticket, err := e.newTicket(r, form, client)
	if err != nil {
		return deviceAnswer{}, err
	}
	key := secret.Token()
	ticket.Poller = secret.Digest(key)
	id, ticket, err := e.Tickets.Begin(r.Context(), ticket)
	if err != nil {
		return deviceAnswer{}, oauth.Unavailable(err)
	}
	code := page.UserCode(ticket.UserCode)
	return deviceAnswer{
		DeviceCode: grant.DeviceCode(id, key), UserCode: code,
		Entry: e.EntryPage, EntryFilled: query.AppendTo(e.EntryPage, "user_code", code),
		ExpiresIn: int64(ticket.Ends.Sub(ticket.IssuedAt) / time.Second), Interval: int64(grant.DeviceInterval / time.Second),
	}, nil
}

// countRequest limits clients without authentication. Clients with a secret ask as often as they
// like, and clients that registered themselves do not have this grant.
func (e *Endpoint) countRequest(r *http.Request, client *oauth.Client) error {
	if !client.Public {
		return nil
	}
	ip := e.ClientIP(r)
	return refusal.Limited(e.Attempts.TakeShare("ticket:device|"+httpx.AddressKey(ip), devicesOfAddress,
		fairshare.From(ip), "device", devicesTogether, 1))
}

// newTicket is what the device asks for. PKCE is not part of RFC 8628, but a challenge that is sent is held to.
func (e *Endpoint) newTicket(r *http.Request, form httpx.Form, client *oauth.Client) (store.Ticket, error) {
	scopes, err := client.GrantableScopes(form.Get("scope"))
	if err != nil {
		return store.Ticket{}, err
	}
	resources := form.All("resource")
	if len(resources) > 0 {
		if resources, err = e.Audiences.Narrow(client, nil, resources); err != nil {
			return store.Ticket{}, err
		}
	}
	challenge, method := form.Get("code_challenge"), form.Get("code_challenge_method")
	switch {
	case challenge == "" && method == "":
	case method != "S256" || !oauth.ValidChallenge(challenge):
		return store.Ticket{}, oauth.Parameter("code_challenge", "must be the base64url form of a SHA-256 digest, and code_challenge_method S256")
	}
	return store.Ticket{
		Kind: store.TicketDevice, Client: client.ID, Scopes: scopes, Resources: resources, Challenge: challenge,
		Address: e.ClientIP(r), UserAgent: httpx.UserAgent(r),
	}, nil
}
