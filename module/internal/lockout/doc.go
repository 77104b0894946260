// Package lockout owns the counting of attempts against guessing: how often a
// key (an account, an address, a user code) was tried of late, and for how long
// it is refused. It refuses to know what is guessed, and what a key stands for.
package lockout
