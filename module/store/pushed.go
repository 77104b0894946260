package store

import "time"

// Pushed is an authorization request that a client left here (RFC 9126), stored under
// the digest of the secret part of its request_uri.
type Pushed struct {
	schema
	Client string `json:"client"`
	// Query holds the parameters in the form of a query, client_id among them and no credentials.
	Query string `json:"query"`
	// Expires ends the life of the request_uri.
	Expires time.Time `json:"exp"`
}

// PushedUse says that a pushed request led to a code. It is stored under
// [PushedUseID] before the code is, so that there is no second one.
type PushedUse struct {
	schema
	// Code is the digest of the code.
	Code string `json:"code"`
}

// PushedUseID is the ID of the [PushedUse] of the request stored under id.
func PushedUseID(id string) string { return "used:" + id }

// Assertion remembers that the jti of a client assertion was taken (RFC 7523 section 3,
// point 7). It is created once and expires with the assertion.
type Assertion struct {
	schema
	Client string `json:"client"`
}
