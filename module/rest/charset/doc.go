// Package charset owns the encoding of an upstream's text: finding out by its label, its
// bytes and what the configuration names, decoding it to UTF-8 as it streams, and encoding
// what is sent. Text that cannot be decoded without loss is an error, never a guess. The
// package knows nothing of what a text is for.
package charset
