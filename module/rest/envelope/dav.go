package envelope

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"

	"github.com/gatehouse/gatehouse/module/rest/envelope/leak"
)

// isPrecondition reports whether an error is a document of WebDAV that names the precondition which does not hold (RFC 4918
// section 16). Clients of CalDAV and others go by it: with valid-sync-token they synchronize anew. text is the body as UTF-8.
func isPrecondition(media string, status int, text []byte) bool {
	told := status < http.StatusInternalServerError || status == http.StatusInsufficientStorage
	return told && (media == "application/xml" || media == "text/xml") && len(text) <= leak.MaxSearched && isDAVError(text) && !leak.In(string(text))
}

// isDAVError reports whether a text is a well-formed document whose root is the element error of WebDAV, without a
// document type.
func isDAVError(text []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(text)) // fails for a declared encoding other than UTF-8
	depth, roots := 0, 0
	for {
		token, err := d.Token()
		if err != nil {
			return err == io.EOF && roots == 1 //nolint:errorlint // the decoder's own
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth > 1 {
				continue
			}
			if roots++; token.Name != (xml.Name{Space: "DAV:", Local: "error"}) {
				return false
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && len(bytes.TrimSpace(token)) > 0 {
				return false
			}
		case xml.Directive, xml.Comment:
			return false
		case xml.ProcInst:
			if token.Target != "xml" {
				return false
			}
		}
	}
}
