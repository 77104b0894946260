package request

import (
	"io"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// mostOfNothing is how long a body may be that says nothing.
const mostOfNothing = 16

// RefuseBody refuses a body that would not be sent: its client would believe that it was heeded. The bodies that some
// clients send with every request, {}, null and [] (an empty object of PHP), say nothing, also with blanks in them.
func RefuseBody(r *http.Request) *envelope.Refusal {
	if r.Body == nil || r.ContentLength == 0 {
		return nil
	}
	if r.ContentLength > mostOfNothing {
		return unexpectedBody(r)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, mostOfNothing+1)) // one in chunks may be empty
	switch said := strings.Join(strings.Fields(string(body)), ""); {
	case err != nil:
		return envelope.Refuse(http.StatusBadRequest, "the body could not be read")
	case len(body) <= mostOfNothing && (said == "" || said == "{}" || said == "[]" || said == "null"):
		return nil
	}
	return unexpectedBody(r)
}

func unexpectedBody(r *http.Request) *envelope.Refusal {
	return envelope.Refuse(http.StatusBadRequest, "a "+r.Method+" has no body here")
}
