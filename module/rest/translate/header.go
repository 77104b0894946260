package translate

import (
	"mime"
	"net/http"
)

// described are the fields that belong to the bytes of the upstream's body.
var described = []string{
	"Accept-Ranges", "Content-Digest", "Content-Encoding", "Content-Length", "Content-Md5", "Digest", "Etag", "Repr-Digest", "Transfer-Encoding",
}

func forget(h http.Header) {
	for _, name := range described {
		delete(h, name)
	}
}

func mediaOf(h http.Header) string {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return media
}

func charsetOf(h http.Header) string {
	_, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return params["charset"]
}

func isAttachment(h http.Header) bool {
	disposition, _, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	return h.Get("Content-Disposition") != "" && (err != nil || disposition != "inline")
}
