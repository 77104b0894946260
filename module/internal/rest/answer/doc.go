// Package answer says what becomes of the upstream's successful answers: which edits turn them into the
// client's form, which status and links they get, where a list's total and cursors are, and when a success
// is a failure. It gives plans and reads what they have captured; it reads no body itself, and knows
// nothing of how the upstream was asked.
package answer
