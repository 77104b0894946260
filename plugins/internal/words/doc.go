// Package words parses the block of a plugin in a Caddyfile: how values are read and how mistakes are
// reported. It does not know which options a plugin has.
package words
