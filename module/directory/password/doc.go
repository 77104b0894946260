// Package password hashes and checks passwords: it makes Argon2id hashes, and checks those and
// the formats of many other programs. It knows nothing about users. Since hashes may come from
// anywhere, it bounds the work of checking each one.
package password
