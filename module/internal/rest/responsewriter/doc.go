// Package responsewriter has the response writers that the stages of api_rest put between the
// API and the client: one records an answer, one holds it back until something about it is
// known, one sees the header just before it is sent. It knows nothing of Caddy, nor of what an
// answer means.
package responsewriter
