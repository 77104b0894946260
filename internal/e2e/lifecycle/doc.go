// Package lifecycle tests the gateway in Caddy's life cycle: loads, reloads, validation without effects,
// failed loads, and requests that outlive their configuration. It contains only tests.
package lifecycle
