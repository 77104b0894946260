// Package lifecycle holds the tests of how the gateway lives in Caddy: loads, reloads,
// checks without effects, failures in the middle of a load, requests that outlive
// their configuration. It has no code of its own.
package lifecycle
