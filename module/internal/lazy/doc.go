// Package lazy opens stores, limiters and directories at their first use, so that checking a
// configuration touches neither disk nor network. They may be closed and open again. The
// package does not know who uses them, nor for how long.
package lazy
