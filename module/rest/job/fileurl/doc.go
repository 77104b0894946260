// Package fileurl decides which URLs files may be fetched from. Clients name them, and must not reach what only the gateway can.
package fileurl
