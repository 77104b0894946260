// Package harness runs the gateway for tests from outside: in this process from a Caddyfile on free
// ports, or as the built program, with browsers and upstreams. What cannot be started fails the test;
// nothing is skipped.
package harness
