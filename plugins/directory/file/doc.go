// Package file is the user directory gatehouse.directories.file: users in a JSON
// file that an operator edits or another program writes. It owns the format of
// that file and notices its changes; it never writes it, and it refuses to know
// who asks.
package file
