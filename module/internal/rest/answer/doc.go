// Package answer says how the upstream's successful answers are translated: which edits give them the
// client's form, which status and links they get, where a list's total and cursors are, and when a success
// is a failure. It makes plans and reads what they have captured; it reads no body itself, and does not
// know how the upstream was asked.
package answer
