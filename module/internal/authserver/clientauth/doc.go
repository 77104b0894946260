// Package clientauth owns client authentication at the endpoints that programs call
// (RFC 6749 sections 2.3 and 3.2.1): how credentials are read and compared, and how
// guessing them is bounded. It refuses to know what an authenticated client may do.
package clientauth
