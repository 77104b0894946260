package request

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
)

// WithoutBoundary returns what tells the body of a request from others: the body itself, but for multipart/form-data
// a digest of it without the boundary, since most clients choose another one each time they send a form. ReadBody
// must have accepted the body.
func WithoutBoundary(h http.Header, body []byte) []byte {
	labels := h["Content-Type"]
	if len(labels) != 1 || formOf(labels[0]) != parts {
		return body
	}
	boundary, ok := boundaryIn(labels[0])
	if !ok {
		return body
	}
	return digestForm(body, boundary)
}

// digestForm digests what is between the boundaries, with the lengths: no two forms that differ in anything
// but the boundary have the same digest.
func digestForm(body []byte, boundary string) []byte {
	sum := sha256.New()
	delimiter := []byte("--" + boundary)
	for from, done := 0, false; !done; {
		at := nextLine(body, from, delimiter)
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(at-from)))
		_, _ = sum.Write(body[from:at])
		from, done = at+len(delimiter), at == len(body)
	}
	return sum.Sum(nil)
}
