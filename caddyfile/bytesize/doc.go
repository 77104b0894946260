// Package bytesize parses sizes such as 256MiB.
package bytesize
