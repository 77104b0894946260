package translate

import (
	"mime"
	"net/http"

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

func mediaOf(h http.Header) string {
	media, _ := envelope.MediaType(h)
	return media
}

func charsetOf(h http.Header) string {
	_, charset := envelope.MediaType(h)
	return charset
}

func isAttachment(h http.Header) bool {
	value := h.Get("Content-Disposition")
	if value == "" {
		return false
	}
	disposition, _, err := mime.ParseMediaType(value)
	return err != nil || disposition != "inline"
}
