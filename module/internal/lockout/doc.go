// Package lockout counts attempts to protect against guessing: how often a key (an account,
// an address, a user code) was tried lately, and for how long it is refused. It does not know
// what is guessed or what a key stands for.
package lockout
