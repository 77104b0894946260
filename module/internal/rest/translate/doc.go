// Package translate owns an upstream's answer on its way to the client: which answers
// are touched, undoing what stands between the bytes and the JSON (compression, other
// encodings, a notice in front), the frame of a list, and the header that fits. What is
// to become of an answer it is told by package resource; errors are not its business.
package translate
