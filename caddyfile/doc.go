// Package caddyfile parses Gatehouse's directives and its global option, and registers them
// with their order. Each error names file, line and word and says what was expected. The
// package fills in configuration types and makes no decisions about requests.
//
// Modules that a Caddyfile names by a word (the matcher, stores, limiters, directories) implement
// [caddyfile.Unmarshaler] themselves, because Caddy asks them. Handlers and the authentication provider
// are parsed here, as Caddy does with its own of basic_auth and headers: their directives compare scopes
// with the global option, which UnmarshalCaddyfile does not have.
package caddyfile
