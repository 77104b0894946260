package store

import "time"

// TicketKind says what a confirmation on a second device is for.
type TicketKind string

// The kinds of tickets.
const (
	// TicketScan: a browser shows a code to scan; whoever polls is that browser.
	TicketScan TicketKind = "scan"
	// TicketDevice: a device shows a code to type (RFC 8628); whoever polls is the client.
	TicketDevice TicketKind = "device"
)

// TicketState is where a ticket stands. That it has expired is told by its times.
type TicketState string

// The states of a ticket. The last two are final.
const (
	TicketPending   TicketState = "pending"
	TicketScanned   TicketState = "scanned"
	TicketConfirmed TicketState = "confirmed"
	TicketDenied    TicketState = "denied"
)

// Ticket is a request that a person confirms on another device than the one it began on
// (RFC 8628; RFC 10027). It is stored under its ID, which stands in the code that is
// scanned and is no credential: only who knows the poll secret is told the outcome.
type Ticket struct {
	schema
	Kind  TicketKind  `json:"kind"`
	State TicketState `json:"state"`

	// What is asked, as the authorization request had it.
	Client      string   `json:"client"`
	RedirectURI string   `json:"redirect_uri,omitempty"`
	Scopes      []string `json:"scopes"`
	ClientState string   `json:"client_state,omitempty"` // the parameter state, byte for byte
	Challenge   string   `json:"challenge,omitempty"`    // PKCE, S256
	Resources   []string `json:"resources,omitempty"`
	Locales     string   `json:"locales,omitempty"`
	// Framed says that the page stands in a frame of the client's site, and TopLevel
	// that the answer goes to the window around it.
	Framed   bool `json:"framed,omitempty"`
	TopLevel bool `json:"top_level,omitempty"`

	// Poller is the digest of the secret of who may ask for the outcome: a cookie of the
	// browser that began, or the device_code.
	Poller string `json:"poller"`
	// Number is shown where the request began and typed where it is confirmed, "" for none.
	Number string `json:"number,omitempty"`
	// UserCode is the short code to type, in its canonical form.
	UserCode string `json:"user_code,omitempty"`
	// Address and UserAgent are those of who began, for the person who confirms.
	Address   string `json:"address,omitempty"`
	UserAgent string `json:"user_agent,omitempty"`

	IssuedAt time.Time `json:"iat"`
	// Expires is until when it can be scanned, Ends until when all must be over.
	Expires time.Time `json:"exp"`
	Ends    time.Time `json:"ends"`

	// Scanner is the digest of the session that scanned first; it alone decides.
	Scanner  string    `json:"scanner,omitempty"`
	Subject  string    `json:"sub,omitempty"`
	AuthTime time.Time `json:"auth_time,omitzero"`
	// Attempt names the decision that was made.
	Attempt string `json:"attempt,omitempty"`
	// Delivered is when the outcome was first told to the poller: a code's life begins.
	Delivered time.Time `json:"delivered,omitzero"`
}
