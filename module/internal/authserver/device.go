package authserver

import (
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Anybody can begin as a public client, and each ticket is two records for twenty minutes:
// these bound what stands there at one time to some megabytes a node. What all may begin
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

// deviceAuthorization is RFC 8628 section 3.1.
func (s *Server) deviceAuthorization(w http.ResponseWriter, r *http.Request) {
	answer, err := s.beginDevice(r, w.Header())
	if err != nil {
		s.respond.WriteError(w, err)
		return
	}
	s.respond.WriteJSON(w, http.StatusOK, answer)
}

func (s *Server) beginDevice(r *http.Request, header http.Header) (deviceAnswer, error) {
	form, err := oauthhttp.ReadForm(r, "resource")
	if err != nil {
		return deviceAnswer{}, err
	}
	client, err := s.token.clients.Authenticate(r, form, header)
	if err != nil {
		return deviceAnswer{}, err
	}
	if refused := s.grantTypes.Check(client, oauth.DeviceCode); refused != nil {
		return deviceAnswer{}, refused
	}
	if err := s.mayBegin(r, client); err != nil {
		return deviceAnswer{}, err
	}
	ticket, err := s.deviceTicket(r, form, client)
	if err != nil {
		return deviceAnswer{}, err
	}
	key := secret.Token()
	ticket.Poller = secret.Digest(key)
	id, ticket, err := s.CrossDevice.Begin(r.Context(), ticket)
	if err != nil {
		return deviceAnswer{}, oauth.Unavailable(err)
	}
	code := page.UserCode(ticket.UserCode)
	return deviceAnswer{
		DeviceCode: grant.DeviceCode(id, key), UserCode: code,
		Entry: s.url(page.DevicePath), EntryFilled: s.url(query.AppendTo(page.DevicePath, "user_code", code)),
		ExpiresIn: int64(ticket.Ends.Sub(ticket.IssuedAt) / time.Second), Interval: int64(grant.DeviceInterval / time.Second),
	}, nil
}

// mayBegin counts what clients begin that nobody authenticated. Those with a secret begin
// what they like, and those that registered themselves have not this grant.
func (s *Server) mayBegin(r *http.Request, client *oauth.Client) error {
	if !client.Public {
		return nil
	}
	ip := s.ClientIP(r)
	ok, retry := s.Attempts.TakeShare("ticket:device|"+httpx.AddressKey(ip), devicesOfAddress, fairshare.From(ip), "device", devicesTogether, 1)
	if !ok {
		return refusal.TooMany(retry)
	}
	return nil
}

// deviceTicket is what the device asks for. PKCE is not of RFC 8628, but who sends a
// challenge means it.
func (s *Server) deviceTicket(r *http.Request, form httpx.Form, client *oauth.Client) (store.Ticket, error) {
	scopes, refused := client.GrantableScopes(form.Get("scope"))
	if refused != nil {
		return store.Ticket{}, refused
	}
	resources := form.All("resource")
	if len(resources) > 0 {
		var err error
		if resources, err = s.audiences.Narrow(client, nil, resources); err != nil {
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
		Address: s.ClientIP(r), UserAgent: userAgent(r),
	}, nil
}
