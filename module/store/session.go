package store

import (
	"slices"
	"time"
)

// Session is a signed-in browser, stored under the digest of its id with the
// subject as parent.
type Session struct {
	schema
	Subject  string    `json:"sub"`
	AuthTime time.Time `json:"auth_time"`
	LastSeen time.Time `json:"seen"`
	// Expires is the absolute end; the idle end moves with LastSeen and is the
	// record's own expiry.
	Expires   time.Time `json:"exp"`
	UserAgent string    `json:"user_agent,omitempty"`
}

// Consent is what a user has allowed a client once and need not be asked again. It
// is stored under the digest of both ids, with the subject as parent.
type Consent struct {
	schema
	Client  string    `json:"client"`
	Subject string    `json:"sub"`
	Scopes  []string  `json:"scopes"`
	GivenAt time.Time `json:"at"`
}

// Covers reports whether every one of the scopes has been allowed.
func (c Consent) Covers(scopes []string) bool {
	for _, s := range scopes {
		if !slices.Contains(c.Scopes, s) {
			return false
		}
	}
	return true
}
