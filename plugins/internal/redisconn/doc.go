// Package redisconn connects plugins to Redis: URLs, credentials, TLS; a single server, Sentinel or
// Cluster; running a script at most once; and which errors mean that Redis is unavailable. It does not
// know what is stored.
package redisconn
