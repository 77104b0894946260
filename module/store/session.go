package store

import "time"

// Session is a signed-in browser, stored under the digest of its id with the subject as parent.
type Session struct {
	schema
	Subject  string    `json:"sub"`
	AuthTime time.Time `json:"auth_time"`
	LastSeen time.Time `json:"seen"`
	// Expires is the absolute end; the idle end moves with LastSeen and is the record's own expiry.
	Expires   time.Time `json:"exp"`
	UserAgent string    `json:"user_agent,omitempty"`
	// Address is where it was last used from, "" in sessions of earlier releases.
	Address string `json:"address,omitempty"`
	// Epoch is the last epoch there was when the sign-in began, before the password was
	// checked. 0: none, or a session of an earlier release.
	Epoch int64 `json:"epoch,omitempty"`
}
