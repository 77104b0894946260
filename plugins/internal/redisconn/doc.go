// Package redisconn owns how plugins reach Redis: addresses, credentials, TLS, one server,
// Sentinel or Cluster, running a script exactly once, and what counts as a fault. It
// refuses to know what is kept there.
package redisconn
