// Package lockout counts attempts, to protect against guessing: how often a key (an account, an
// address, a user code) was tried recently, and for how long it is refused. It does not know what
// is being guessed or what a key stands for.
package lockout
