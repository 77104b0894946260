// Package clientauth authenticates clients at the endpoints that programs call (RFC 6749 sections
// 2.3 and 3.2.1): it reads and compares credentials and limits guesses. It does not know what an
// authenticated client may do.
package clientauth
