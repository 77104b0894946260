// Package caddyfile parses Gatehouse's directives and its global option, and registers them
// with their order. Each error names file, line and word and says what was expected. The
// package fills in configuration types and makes no decisions about requests.
package caddyfile
