// Package variantb has the endpoints that sites call in Variant B, the dialect of the QR sign-in: they exchange codes
// and refresh tokens for access tokens, and say who the user is under the site's own identifier. It knows nothing of
// the pages where users sign in, of how codes are issued, or of signatures.
package variantb
