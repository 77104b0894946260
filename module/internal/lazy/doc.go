// Package lazy opens stores, limiters and directories at first use, so that checking a
// configuration touches neither disk nor network. They can be closed, and then open again. The
// package does not know who uses them, or for how long.
package lazy
