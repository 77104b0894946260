// Package signin sends requests to an API with a session of the gateway's own account there: it
// signs in, shares the session among all requests, notices when the session is over, and sends a
// request again with a new one. It knows nothing of Caddy, nor of what clients are answered.
package signin
