// Package account is the page on which users see and end what they have allowed and where they are signed in, and the
// operations behind it that end sessions, grants and consents. It also serves the issuer's own address.
package account
