// Package pool keeps what several configurations share open for as long as one of them, or a
// request that runs under one, needs it. It knows Caddy's usage pools and nothing of what is in them.
package pool
