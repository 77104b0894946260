// Package device is the page on which the short code of a device is typed (RFC 8628). The endpoint
// at which devices begin is package deviceauthz; what is confirmed, and by whom, belongs to package
// confirm.
package device
