// Package simulation runs a hundred nodes on a Redis Cluster of three servers in one process:
// the real limiter, store and revocation feed, over a network with delays, losses and
// partitions, servers with clocks that differ, and time that passes as fast as the processor
// permits. A seed makes each run; a test that fails names it.
//
// It is a module of its own, because only it needs a Redis in the process.
package simulation
