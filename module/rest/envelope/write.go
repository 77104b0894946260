package envelope

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/charset"
)

// Error is what a client is told. An empty Code or Message stands for the default of the status,
// an empty Field for none.
type Error struct {
	Code    string
	Message string
	Field   string // the invalid parameter
}

// Config says how errors are written and read. Its zero value is usable.
type Config struct {
	// ProblemJSON uses application/problem+json (RFC 9457) for clients whose Accept prefers it.
	// Default: application/json for everyone.
	ProblemJSON bool

	// Expose passes on the texts of an upstream's 5xx responses. Stack traces and private
	// addresses are always withheld.
	Expose bool

	// UpstreamAuth turns an upstream's 401 and 403 into 502: the rejected credentials are the
	// gateway's, not the client's.
	UpstreamAuth bool

	// From says where the upstream's errors contain their texts. Default: the usual places.
	From []From

	// FailWhen says which of the upstream's responses are failures in spite of their status.
	FailWhen []FailWhen

	// Passes reports media types that FailWhen permits although they are not JSON. nil permits
	// none.
	Passes func(media string) bool

	// Empty says which of the upstream's errors are an empty result. nil: none.
	Empty *EmptyWhen
	// Charset is the encoding of the upstream's texts that are not in UTF-8 and have no other
	// label. nil: only UTF-8 and labelled texts are read.
	Charset *charset.Charset

	// Field returns the client's name of a parameter that the upstream reports. nil: the names
	// are the same.
	Field func(name string) string

	// SignedIn turns an upstream's 401 into 502, because it is the gateway that signs in.
	SignedIn bool

	// Withhold reports texts that clients must not see. nil: there are none.
	Withhold func(text string) bool

	// Observe is called for each error of the upstream that was normalized, with the upstream's
	// status or the one that FailWhen assigns. It MUST NOT block.
	Observe func(status int, kind Kind)

	dialect *dialect
}

// Write sends an error as application/json. Header fields that are already set (Retry-After,
// WWW-Authenticate, Allow, X-RateLimit-*) stay, except those that describe a body which is not
// sent.
func Write(w http.ResponseWriter, r *http.Request, status int, e Error) {
	Config{}.Write(w, r, status, e)
}

// Write is like the function Write, and respects ProblemJSON.
func (c Config) Write(w http.ResponseWriter, r *http.Request, status int, e Error) {
	c.write(w, r, status, e, true)
}

// write omits Content-Length from the response to a HEAD if the body of the GET is not known.
func (c Config) write(w http.ResponseWriter, r *http.Request, status int, e Error, lengthKnown bool) {
	e = e.complete(status)
	problem := c.ProblemJSON && prefersProblem(r.Header["Accept"])
	body := e.json()
	media := "application/json"
	if problem {
		body, media = e.problem(status), "application/problem+json"
	}
	h := w.Header()
	forgetBody(h)
	values := []string{media, "no-store", ""}
	h["Content-Type"], h["Cache-Control"] = values[:1:1], values[1:2:2]
	if lengthKnown || r.Method != http.MethodHead {
		values[2] = strconv.Itoa(len(body))
		h["Content-Length"] = values[2:3:3]
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client is gone: nobody is left to tell
	}
}

func (e Error) complete(status int) Error {
	entry := Lookup(status)
	if e.Code == "" {
		e.Code = entry.Code
		if status == http.StatusBadRequest && e.Field != "" {
			e.Code = InvalidParameter
		}
	}
	if e.Message == "" {
		e.Message = entry.Message
	}
	return e
}

// MarshalJSON encodes the error object; its field is null if there is none.
func (e Error) MarshalJSON() ([]byte, error) { return e.appendObject(nil), nil }

// bodySize is what most errors take as JSON.
const bodySize = 192

func (e Error) json() []byte {
	return append(e.appendObject(append(make([]byte, 0, bodySize), `{"error":`...)), '}')
}

func (e Error) appendObject(dst []byte) []byte {
	dst = appendString(append(dst, `{"code":`...), e.Code)
	dst = appendString(append(dst, `,"message":`...), e.Message)
	return append(e.appendField(dst), '}')
}

// appendField adds the member field, null if there is none.
func (e Error) appendField(dst []byte) []byte {
	dst = append(dst, `,"field":`...)
	if e.Field == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, e.Field)
}

// problem encodes the members of RFC 9457 section 3.1. The type is about:blank, so the title is
// that of the status (section 4.2.1).
func (e Error) problem(status int) []byte {
	title := http.StatusText(status)
	if title == "" {
		title = http.StatusText(Lookup(status).Status)
	}
	dst := appendString(append(make([]byte, 0, bodySize), `{"type":"about:blank","title":`...), title)
	dst = strconv.AppendInt(append(dst, `,"status":`...), int64(status), 10)
	dst = appendString(append(dst, `,"detail":`...), e.Message)
	dst = appendString(append(dst, `,"code":`...), e.Code)
	return append(e.appendField(dst), '}')
}

// appendString appends a text as encoding/json encodes it, which is only asked where there may be
// something to escape.
func appendString(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			encoded, err := json.Marshal(text)
			if err != nil { // a string always marshals
				panic("envelope: " + err.Error())
			}
			return append(dst, encoded...)
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}

// described are the header fields that belong to the replaced body, or that would let a cache
// keep the error.
var described = []string{
	"Accept-Ranges", "Age", "Cache-Control", "Content-Digest", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length",
	"Content-Location", "Content-Md5", "Content-Range", "Content-Type", "Digest", "Etag", "Expires", "Last-Modified", "Pragma", "Repr-Digest",
	"Transfer-Encoding",
}

var isDescribed = func() map[string]bool {
	set := make(map[string]bool, len(described))
	for _, name := range described {
		set[name] = true
	}
	return set
}()

func forgetBody(h http.Header) {
	// A body that is not sent has no trailers. As header fields they would be mistaken for the
	// gateway's.
	for _, list := range h["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	delete(h, "Trailer")
	for name := range h {
		if isDescribed[name] || strings.HasPrefix(name, http.TrailerPrefix) {
			delete(h, name)
		}
	}
}
