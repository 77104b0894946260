// Package bytesize reads numbers of bytes as people write them, such as 256MiB.
package bytesize
