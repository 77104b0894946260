// Package discovery serves what relying parties find a server by: its metadata and its public
// keys. It knows nothing of what the addresses in the metadata do.
package discovery
