// Package audience decides which APIs a client's access tokens are for: what is configured, and
// what a request narrows it to (RFC 8707). It knows neither tokens nor requests.
package audience
