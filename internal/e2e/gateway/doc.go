// Package gateway tests the gateway over HTTP: requests and exact responses of a gateway that was loaded
// from a Caddyfile. It contains only tests.
package gateway
