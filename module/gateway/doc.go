// Package gateway is the Caddy app gatehouse: its configuration, the handlers of the
// authorization server, of errors and of health checks, and the admin module. It connects
// Caddy with the packages that decide, and shares their state between configurations. It
// never imports a plugin: plugins are found by their module IDs.
package gateway
