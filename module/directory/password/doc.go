// Package password owns the forms in which passwords are kept: it makes Argon2id
// hashes and checks those, and what other programs have left behind. It refuses to
// know users and where hashes come from, so it bounds the work of every one.
package password
