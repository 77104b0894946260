// Package words reads the block of a plugin in a Caddyfile. It owns how values are read
// and what a mistake is told; it refuses to know which words a plugin has.
package words
