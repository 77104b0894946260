// Package handler contains what Gatehouse's Caddy handlers share about one request: the errors
// with which they refuse it, its caller and address, the guards it has passed, and the header
// fields that an upstream must not send. It knows Caddy's request context, and nothing of the
// app, the store or any configuration.
package handler
