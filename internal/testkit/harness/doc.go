// Package harness owns how tests from outside run the gateway: in this process from a
// Caddyfile on free ports, or as the built program, with browsers and upstreams to
// go with it. What cannot be started fails the test; nothing is ever skipped.
package harness
