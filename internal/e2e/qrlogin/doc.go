// Package qrlogin tests signing in with a second device end to end: two Chromium browsers, a
// real QR code reader, and a Variant B site between them. It contains only tests.
package qrlogin
