// Package operation has what the stages of api_rest pass on to each other: a client's call of a
// declared operation, the function that answers it, the function that asks the API, and the errors
// of an answer that broke off. It knows nothing of Caddy, nor of any stage.
package operation
