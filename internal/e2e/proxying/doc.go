// Package proxying tests api_proxy. Most tests also run against Caddy's reverse_proxy, in front
// of the same server, whose responses the test writes byte for byte. It
// contains only tests.
package proxying
