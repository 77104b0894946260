// Package envelope owns the one shape of errors: its codes, its two media types,
// and the translation of an upstream's error answers into it. It knows neither
// Caddy nor OAuth, and it never touches an answer that is not an error.
package envelope
