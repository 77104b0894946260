// Package caddyfile owns the words of the Caddyfile: the global option and the
// directives, their order and their errors, each of which names file, line, word and
// what was expected. It fills in configuration and decides nothing about requests.
package caddyfile
