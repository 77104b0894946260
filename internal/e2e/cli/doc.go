// Package cli tests the admin API and the commands with the built program, as operators use them. It
// contains only tests.
package cli
