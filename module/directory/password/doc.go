// Package password hashes and checks passwords: it makes Argon2id hashes, and checks those
// and the formats that other programs have written. It knows nothing about users, and since
// hashes may come from anywhere, it bounds the work of checking each one.
package password
