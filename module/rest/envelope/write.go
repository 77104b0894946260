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
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-store")
	if lengthKnown || r.Method != http.MethodHead {
		h.Set("Content-Length", strconv.Itoa(len(body)))
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

func (e Error) field() *string {
	if e.Field == "" {
		return nil
	}
	return &e.Field
}

// MarshalJSON encodes the error object; its field is null if there is none.
func (e Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Code    string  `json:"code"`
		Message string  `json:"message"`
		Field   *string `json:"field"`
	}{e.Code, e.Message, e.field()})
}

func (e Error) json() []byte {
	return marshal(struct {
		Error Error `json:"error"`
	}{e})
}

// problem encodes the members of RFC 9457 section 3.1. The type is about:blank, so the title is
// that of the status (section 4.2.1).
func (e Error) problem(status int) []byte {
	title := http.StatusText(status)
	if title == "" {
		title = http.StatusText(Lookup(status).Status)
	}
	return marshal(struct {
		Type   string  `json:"type"`
		Title  string  `json:"title"`
		Status int     `json:"status"`
		Detail string  `json:"detail"`
		Code   string  `json:"code"`
		Field  *string `json:"field"`
	}{"about:blank", title, status, e.Message, e.Code, e.field()})
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // strings and numbers always marshal
		panic("envelope: " + err.Error())
	}
	return b
}

// described are the header fields that belong to the replaced body, or that would let a cache
// keep the error.
var described = []string{
	"Accept-Ranges", "Age", "Cache-Control", "Content-Digest", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length",
	"Content-Location", "Content-Md5", "Content-Range", "Content-Type", "Digest", "Etag", "Expires", "Last-Modified", "Pragma", "Repr-Digest",
	"Transfer-Encoding",
}

func forgetBody(h http.Header) {
	for _, name := range described {
		delete(h, name)
	}
	// A body that is not sent has no trailers. As header fields they would be mistaken for the
	// gateway's.
	for _, list := range h["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	delete(h, "Trailer")
	for name := range h {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			delete(h, name)
		}
	}
}
