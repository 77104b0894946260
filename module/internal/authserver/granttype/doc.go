// Package granttype decides whether a client may use a grant type now, and records the use of
// deprecated grant types. It knows nothing of what a grant type does.
package granttype
