// Package charset handles the encoding of an upstream's text: it determines the encoding from the
// label, the bytes and the configuration, decodes text to UTF-8 as it streams, and encodes what is
// sent. Text that cannot be decoded without loss is an error; nothing is guessed. The package does not
// know what a text is for.
package charset
