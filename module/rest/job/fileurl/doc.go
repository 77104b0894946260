// Package fileurl decides which URLs files may be fetched from. Clients choose them, and
// must not reach machines through the gateway that they cannot reach themselves.
package fileurl
