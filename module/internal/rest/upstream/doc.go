// Package upstream prepares requests to an API with what the gateway itself adds: fixed parameters,
// the session of its own account, the form of an RPC call. It keeps what was added from every
// client. It knows nothing of Caddy, nor of what clients are
// answered.
package upstream
