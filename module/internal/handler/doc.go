// Package handler is what Gatehouse's Caddy handlers share about one request: the errors
// they refuse it with, who the caller is, which guards it has passed, where it came from,
// and the response writer that edits a header just before it is sent. It knows Caddy's
// request context, and nothing of the app, the store or any configuration.
package handler
