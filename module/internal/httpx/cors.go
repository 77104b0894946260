package httpx

import (
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxRequestedHeaders is how many bytes the list of [RequestedHeaders] may have.
const maxRequestedHeaders = 1024

// RequestedHeaders returns the names of header fields that a CORS preflight asks for, to echo them. It returns "" if
// there are none, or the list is malformed or too long.
func RequestedHeaders(h http.Header) string {
	list := strings.Join(h["Access-Control-Request-Headers"], ", ")
	if len(list) > maxRequestedHeaders {
		return ""
	}
	for name := range strings.SplitSeq(list, ",") {
		if !httpguts.ValidHeaderFieldName(strings.Trim(name, " \t")) {
			return ""
		}
	}
	return list
}
