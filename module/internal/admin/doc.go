// Package admin answers the gateway's admin API: it manages users, clients, grants and signing
// keys, and has the doctor examine a running gateway. It does not know who may call it, nor
// Caddy; paths and JSON are in adminapi.
package admin
