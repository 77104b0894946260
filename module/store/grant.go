package store

import "time"

// Grant is what a user gave a client: the family of all tokens that one authorization began. It is stored under its
// ID, with the subject as parent. It holds no token: a refresh token is a MAC over family and generation.
type Grant struct {
	schema
	ID       string    `json:"id"`
	Dialect  Dialect   `json:"dialect"`
	Client   string    `json:"client"`
	Subject  string    `json:"sub"`
	Scopes   []string  `json:"scopes"`
	AuthTime time.Time `json:"auth_time"`
	Session  string    `json:"session,omitempty"`
	// Resources are the audiences the user's authorization was asked for (RFC 8707), empty for the client's default.
	Resources []string  `json:"resources,omitempty"`
	IssuedAt  time.Time `json:"iat"`
	// Expires is the absolute end of the family's refresh tokens.
	Expires time.Time `json:"exp"`
	// Generation is the number of the current refresh token, from 1.
	Generation uint64 `json:"gen"`
	// RotatedAt is when the current generation came to be.
	RotatedAt time.Time `json:"rotated_at"`
	// RetryUntil is until when the previous generation may be presented again whatever the
	// grace period says, because the rotation was answered 503. Zero for not at all.
	RetryUntil time.Time `json:"retry_until,omitzero"`
	// Epochs are those the grant was issued under. They never change.
	Epochs Epochs `json:"epochs,omitzero"`
	// Code is the ID of the authorization code that began the grant, if its record stays as long as the grant: that of a
	// code of an earlier release. "" for none.
	Code string `json:"code,omitempty"`
	// Bound is the [Code.Binding] of the code that the grant is named after, "" for none.
	Bound string `json:"bound,omitempty"`
	// RevokedAt is set once, when the whole family dies.
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

// UsedCode returns the used code, of this dialect, that the grant is named after; ok is false if there is none. It is
// what the code's own record says for as long as there is one.
func (g Grant) UsedCode(d Dialect) (_ Code, ok bool) {
	if len(g.Bound) != 2*boundDigits {
		return Code{}, false
	}
	return Code{State: CodeUsed, Dialect: d, Grant: g.ID, Epochs: g.Epochs, Bound: g.Bound}, true
}

// Revoked reports whether the family is dead.
func (g Grant) Revoked() bool { return !g.RevokedAt.IsZero() }

// Revoke kills the family; the first time counts.
func (g Grant) Revoke(now time.Time) Grant {
	if !g.Revoked() {
		g.RevokedAt = now
	}
	return g
}

// Rotation is what presenting a refresh token does to its family.
type Rotation int

// The outcomes of presenting a generation.
const (
	// RotationDead: revoked, or past its absolute or idle end. Nothing changes.
	RotationDead Rotation = iota
	// RotationNext: the current generation was presented, or a later one; the next one is due.
	RotationNext
	// RotationAgain: the previous one within the grace period; the answer is the
	// current generation once more, for clients whose first answer was lost.
	RotationAgain
	// RotationReuse: an older one, or the previous one too late. The family dies (RFC 9700 section 4.14.2).
	RotationReuse
)

// clockSkew is how far the clocks of nodes may be apart.
const clockSkew = time.Minute

// withinGrace reports whether the grace period of the last rotation lasts. A time before that is no
// part of it, except as far as the clocks of two nodes differ: a clock that was set back would
// have replaced tokens accepted until it is there again.
func (g Grant) withinGrace(grace time.Duration, now time.Time) bool {
	since := now.Sub(g.RotatedAt)
	return grace > 0 && since < grace && since >= -clockSkew
}

// Rotate decides what presenting a generation means at this moment and returns the
// family as it is to be stored afterwards (unchanged for Dead and Again).
func (g Grant) Rotate(generation uint64, now time.Time, grace, idle time.Duration) (Grant, Rotation) {
	switch {
	case g.Revoked(), !now.Before(g.Expires), idle > 0 && now.Sub(g.RotatedAt) >= idle:
		return g, RotationDead
	case generation >= g.Generation: // a later one if the store has lost the rotation that issued it
		g.Generation = generation + 1
		g.RotatedAt, g.RetryUntil = now, time.Time{}
		return g, RotationNext
	case generation+1 == g.Generation && (g.withinGrace(grace, now) || now.Before(g.RetryUntil)):
		return g, RotationAgain
	default:
		return g.Revoke(now), RotationReuse
	}
}
