// Package upstream is the way to an API for which the gateway adds something of its own to
// requests: fixed parameters, a session of its own account, the form of an RPC call. It makes sure
// that no client is told what was added. It knows nothing of Caddy, nor of what clients are
// answered.
package upstream
