// Package registration lets clients register themselves (RFC 7591) and manage their registration
// (RFC 7592). It knows nothing of where clients are stored.
package registration
