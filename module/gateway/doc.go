// Package gateway owns everything that knows Caddy: the app, the handlers, their
// configuration, the pooled resources and the leases on them, and the admin API.
// It translates between Caddy and the packages that decide, and decides nothing
// itself. It never imports a plugin: guests are found by their module IDs.
package gateway
