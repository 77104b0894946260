// Package variantb owns the endpoints that a site calls in the dialect of the QR sign-in:
// codes and refresh tokens for access tokens, and who the user is, under a name of the
// site's own. It refuses to know the pages where the user signs in, how a code comes to
// be, and how a token is signed.
package variantb
