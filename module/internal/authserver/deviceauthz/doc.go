// Package deviceauthz is the device authorization endpoint (RFC 8628 section 3.1). It knows
// neither how clients authenticate nor how a person confirms a request.
package deviceauthz
