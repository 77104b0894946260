// Package clientassertion verifies the assertions with which clients authenticate (private_key_jwt: RFC 7523 section
// 3, OpenID Connect Core section 9), and reads the public keys that clients register for it. Remembering which
// assertions were used is the caller's task.
package clientassertion
