// Package headers lists the header fields of an upstream's response that may reach clients, and has the
// rules for those that the configuration adds. It knows neither Caddy nor the content of responses.
package headers
