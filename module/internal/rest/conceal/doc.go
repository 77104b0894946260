// Package conceal keeps the secrets that the gateway adds to a request for the API, such as a key
// or a session, out of reach of Caddy's proxy, which logs the requests and answers that it
// handles. A transport below the proxy adds them to the request, and takes them from the answer.
// The package knows nothing of Caddy, nor of what the secrets are.
package conceal
