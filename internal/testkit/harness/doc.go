// Package harness runs the gateway for black-box tests, in the test process or as the built program, with a Caddyfile
// and free ports, and provides browsers and upstreams. If something cannot be started, the test fails; none is skipped.
package harness
