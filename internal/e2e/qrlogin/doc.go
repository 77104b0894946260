// Package qrlogin is the tests of signing in with a second device, as two people's
// browsers see it: Chromium twice, a real reader of QR codes, and a site of Variant B in
// between. It is nothing but tests.
package qrlogin
