// Package redisconn connects plugins to Redis: addresses, credentials, TLS, a single server, Sentinel or
// Cluster, running a script exactly once, and what counts as a fault. It does not know what is stored.
package redisconn
