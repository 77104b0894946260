// Package charset owns in which encoding a text of an upstream's is, whatever its label
// says of it, and making UTF-8 of it. It knows UTF-8, the Chinese GB encodings and
// Latin-1, and nothing of what the text is for.
package charset
