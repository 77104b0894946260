// Package account is the page on which users see, and end, what they have allowed and where they
// are signed in. It also answers the issuer's own address.
package account
