// Package deviceauthz is the device authorization endpoint (RFC 8628 section 3.1), which issues the
// device code and the user code. It knows neither how clients authenticate nor how a person confirms a
// request: package confirm checks user codes and asks, and device.go of package grant redeems the
// device code.
package deviceauthz
