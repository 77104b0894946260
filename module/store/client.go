package store

import (
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// The parents of clients: those an operator made and those that registered themselves.
const (
	ClientParent     = "clients"
	RegisteredParent = "registered"
)

// Client is an application kept in the store, under its client_id.
type Client struct {
	schema
	oauth.Client
	Secrets         []ClientSecret                `json:"secrets,omitempty"`
	DeprecatedUntil map[oauth.GrantType]time.Time `json:"deprecated_until,omitempty"`
	Created         time.Time                     `json:"created"`
	// SelfRegistered clients came by RFC 7591.
	SelfRegistered bool `json:"self_registered,omitempty"`
	// ScopeLimit are the scopes that an operator has chosen for such a client, which may have no
	// others by another registration. nil: none has.
	ScopeLimit []string `json:"scope_limit,omitzero"`
	// RegisteredAudience is what tokens of such clients were for when this one registered. It
	// counts if no [Registration] is stored.
	RegisteredAudience []string `json:"registered_audience,omitempty"`
	// AccessHash is the digest of the registration access token (RFC 7592).
	AccessHash string `json:"access_hash,omitempty"`
	// UnusedUntil is the record's end while nobody has used the registration, then zero.
	UnusedUntil time.Time `json:"unused_until,omitzero"`
}

// ClientSecret is one of a client's secrets: several overlap while one replaces another.
type ClientSecret struct {
	Hash    string    `json:"hash"` // hex SHA-256
	Created time.Time `json:"created"`
	// Until is the moment from which it no longer authenticates; zero: none.
	Until time.Time `json:"until,omitzero"`
}

// Live reports whether the secret authenticates at this moment.
func (s ClientSecret) Live(now time.Time) bool { return s.Until.IsZero() || now.Before(s.Until) }

// maxClientSecrets is how many secrets overlap at most: rotating oftener than the overlap lasts ends the oldest.
const maxClientSecrets = 4

// Rotate makes hash the client's secret. Those before it end after overlap, at once when
// it is 0, and never later than they were to.
func (c Client) Rotate(hash string, now time.Time, overlap time.Duration) Client {
	end := now.Add(overlap)
	var kept []ClientSecret
	for _, s := range c.Secrets {
		if s.Until.IsZero() || s.Until.After(end) {
			s.Until = end
		}
		if s.Live(now) {
			kept = append(kept, s)
		}
	}
	kept = append(kept, ClientSecret{Hash: hash, Created: now})
	c.Secrets = slices.Clone(kept[max(0, len(kept)-maxClientSecrets):])
	return c
}

// Used keeps a registration that somebody has used. ok is false when it is kept already.
func (c Client) Used() (_ Client, ok bool) {
	if c.UnusedUntil.IsZero() {
		return c, false
	}
	c.UnusedUntil = time.Time{}
	return c, true
}

// Registration is what registered clients may have by the configuration that let clients
// register last, for the time when none does.
type Registration struct {
	schema
	Scopes   []string `json:"scopes"`
	Audience []string `json:"audience,omitempty"`
}

// RegistrationLedger counts the clients that registered themselves, in the one record by
// whose compare-and-swap no two registrations take the same last place.
type RegistrationLedger struct {
	schema
	// Places are the client_ids and when each took its place, in Unix seconds. A client
	// that is gone keeps its place until places run out.
	Places map[string]int64 `json:"places,omitempty"`
}

// Origin says that a client in the store has a browser origin, see [oauth.Client.CORSOrigins], or an optional grant type
// ("grant_type " and its name in place of the origin). It is stored under [OriginKey] with [OriginParent] as parent, so
// that such clients are found without reading all. It is written before the client's own record, which decides.
type Origin struct {
	schema
	Client string `json:"client"`
	// At is when the record was written last: the client's may follow a moment later.
	At time.Time `json:"at"`
}

// OriginKey is where an origin of a client is stored. A client id has no NUL.
func OriginKey(origin, client string) Key {
	return Key{Kind: KindOrigin, ID: digest(client + "\x00" + origin)}
}

// OriginParent is the parent of all records of one origin.
func OriginParent(origin string) string { return digest(origin) }

// OriginIndex says when the origins and grant types of all clients were last compared with their [Origin] records, which earlier
// releases do not write.
type OriginIndex struct {
	schema
	Checked time.Time `json:"checked,omitzero"`
	// Lease is until when the node that compares them is left alone.
	Lease time.Time `json:"lease,omitzero"`
}
