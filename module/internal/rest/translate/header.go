package translate

import (
	"mime"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// described are the fields that belong to the bytes of the upstream's body.
var described = []string{
	"Accept-Ranges", "Content-Digest", "Content-Encoding", "Content-Length", "Content-Md5", "Digest", "Etag", "Repr-Digest", "Transfer-Encoding",
}

func dropBodyFields(h http.Header) {
	for _, name := range described {
		delete(h, name)
	}
}

// contentCoding returns the coding that a body is compressed with, "" for none.
func contentCoding(h http.Header) string {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ",")))
	if coding == "identity" {
		return ""
	}
	return coding
}

func mediaOf(h http.Header) string {
	media, _ := envelope.MediaType(h)
	return media
}

func charsetOf(h http.Header) string {
	_, charset := envelope.MediaType(h)
	return charset
}

// byteRanges is the type of several parts.
const byteRanges = "multipart/byteranges"

// isByteRange reports whether a 206 is a range of bytes, which cannot be translated. Some APIs, such as PostgREST, send 206 if a list
// has more elements: then Content-Range has another unit, or none.
func isByteRange(h http.Header) bool {
	unit, _, _ := strings.Cut(strings.TrimSpace(h.Get("Content-Range")), " ")
	return strings.EqualFold(unit, "bytes") || mediaOf(h) == byteRanges
}

// refusesPart reports whether a 206 is a part of what clients must not see unedited. The API was not asked for one.
func (w *Writer) refusesPart() bool {
	a, h := w.config.Answer, w.Header()
	if a.Plan == nil && !(a.Writes() && a.Alters()) {
		return false
	}
	if unlabelled := h.Get("Content-Range") == ""; !isByteRange(h) && (!unlabelled || a.IsList() || a.Writes()) {
		return false
	}
	media := mediaOf(h)
	return !a.Passes(media) || envelope.MaybeJSON(media) || media == byteRanges
}

func isAttachment(h http.Header) bool {
	value := h.Get("Content-Disposition")
	disposition, _, err := mime.ParseMediaType(value)
	return value != "" && (err != nil || disposition != "inline")
}
