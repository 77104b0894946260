package headerfilter

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/headers"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Writer is the client's writer. It removes header fields just before the header is sent, after
// the dialect and the translation have read them. Fields that handlers in front have set stay.
type Writer struct {
	http.ResponseWriter
	// Translated knows who set the Link field of the header. It may be nil until the API is
	// asked.
	Translated *translate.Writer
	// Secret reports a text that clients must not see. nil: there is none.
	Secret func(string) bool

	pass   *headers.Set
	call   *operation.Call
	answer *answer.Answer
	before []field  // earlier values of fields that do not pass
	room   [2]field // storage for before, which rarely needs more
	ended  []string // trailers that are removed
	done   bool
}

type field struct {
	name   string
	values []string
}

// New returns a writer for the answer to a call.
func New(w http.ResponseWriter, c *operation.Call, answer *answer.Answer) *Writer {
	l := &Writer{ResponseWriter: w, pass: c.Match.Operation.Answers.Shape.Fields, call: c, answer: answer}
	l.before = l.room[:0]
	for name, values := range w.Header() {
		if !l.pass.Passes(name, headers.Answer{}) {
			l.before = append(l.before, field{name, values})
		}
	}
	return l
}

// Unwrap implements the interface of http.ResponseController.
func (l *Writer) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// WriteHeader removes fields. From an informational answer it removes them for that answer only,
// since the final header is still to come.
func (l *Writer) WriteHeader(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols {
		l.inform(status)
		return
	}
	l.strip(status)
	l.ResponseWriter.WriteHeader(status)
}

// inform passes on an informational answer. Early hints without fields are dropped.
func (l *Writer) inform(status int) {
	h := l.Header()
	whole := maps.Clone(h)
	l.removeDigests(status)
	l.remove(headers.Answer{Status: status}, false)
	if status != http.StatusEarlyHints || len(h["Link"]) > len(l.own("Link")) {
		l.ResponseWriter.WriteHeader(status)
	}
	clear(h)
	maps.Copy(h, whole)
}

func (l *Writer) strip(status int) {
	if l.done {
		return
	}
	l.done = true
	h := l.Header()
	a := headers.Answer{Status: status}
	l.removeDigests(status)
	if status < 300 {
		media, _ := envelope.MediaType(h)
		disposition, _, _ := strings.Cut(h.Get("Content-Disposition"), ";")
		attachment := strings.EqualFold(strings.TrimSpace(disposition), "attachment")
		a.Page = media != "" && l.answer.IsPage(media, envelope.IsJSON(media), attachment)
	}
	l.remove(a, status < 300 && (l.Translated != nil && l.Translated.Linked() || l.leadsHere(h["Link"])))
	if status == http.StatusMethodNotAllowed && !l.pass.Named("Allow") {
		h.Set("Allow", l.allowed()) // RFC 9110 section 15.5.6
	}
}

// remove removes the fields that do not pass. link says whether Link does.
func (l *Writer) remove(a headers.Answer, link bool) {
	h := l.Header()
	for name, values := range h {
		field := strings.TrimPrefix(name, http.TrailerPrefix)
		passes := l.pass.Passes(field, a) || link && name == "Link"
		if field != name {
			passes = l.passesTrailer(field, a)
		}
		if passes {
			if l.hasSecret(field, values) {
				delete(h, name)
			}
			continue
		}
		switch own := l.own(name); {
		case len(own) > 0 && len(values) >= len(own) && slices.Equal(values[:len(own)], own):
			h[name] = values[:len(own):len(own)]
		case name == "Via" && strings.HasSuffix(values[len(values)-1], " Caddy"):
			h[name] = values[len(values)-1:] // that of the gateway's proxy, without those of proxies behind it
		case name == "Connection" && len(values) == 1 && values[0] == "close":
			// By the gateway's proxy: what is unread of the request's body must not become the next request. Those of APIs
			// end at the proxy.
		default:
			delete(h, name)
		}
	}
	if len(h["Trailer"]) > 0 {
		l.trailers(h, a)
	}
}

// removeDigests removes what identifies the bytes of a resource that clients may see in another form, from answers
// that do not have it: what has changed nothing, or has changed it, may still name its tag or digest. Those of
// answers with it go where they are translated, and stay where they are not.
func (l *Writer) removeDigests(status int) {
	has := status >= http.StatusOK && status < 300 && !l.answer.Writes()
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent:
		has = false
	}
	if has || !l.answer.Alters() {
		return
	}
	h := l.Header()
	for name := range h {
		if headers.IsDigest(name) {
			delete(h, name)
		}
	}
}

// passesTrailer reports whether a trailer reaches the client. Which of those of a resource that clients may see in another
// form belong to what they see is not known.
func (l *Writer) passesTrailer(name string, a headers.Answer) bool {
	return l.pass.Passes(name, a) && !(l.answer.Alters() && headers.IsDigest(name))
}

// hasSecret reports whether a field of the API contains a secret of the gateway: many APIs repeat the URL of the
// request, and some the token that they refuse.
func (l *Writer) hasSecret(field string, values []string) bool {
	switch {
	case l.Secret == nil:
		return false
	case field == "Link" && l.Translated != nil && l.Translated.Linked(): // it is ours
		return false
	case field != "Link" && field != "Location" && field != "Content-Location" && field != "Www-Authenticate":
		return false
	}
	return slices.ContainsFunc(values, l.Secret)
}

// own returns the values that a field had before the API was asked.
func (l *Writer) own(name string) []string {
	for _, f := range l.before {
		if f.name == name {
			return f.values
		}
	}
	return nil
}

// trailers removes the trailers that do not pass from their announcement.
func (l *Writer) trailers(h http.Header, a headers.Answer) {
	var left []string
	for _, line := range h["Trailer"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); l.passesTrailer(name, a) {
				left = append(left, name)
			} else {
				l.ended = append(l.ended, name)
			}
		}
	}
	if h["Trailer"] = left; left == nil {
		delete(h, "Trailer")
	}
}

// Finish ends the answer. What the header has by now are trailers, or belongs to an answer that
// was not given.
func (l *Writer) Finish() {
	if !l.done {
		l.remove(headers.Answer{}, false)
		return
	}
	h := l.Header()
	for _, name := range l.ended {
		delete(h, name)
	}
	for name, values := range h {
		field, ok := strings.CutPrefix(name, http.TrailerPrefix)
		if ok && !l.passesTrailer(field, headers.Answer{}) || l.hasSecret(field, values) {
			delete(h, name)
		}
	}
}

// leadsHere reports whether clients can request all targets of the API's Link.
func (l *Writer) leadsHere(links []string) bool {
	for _, line := range links {
		for rest := line; ; {
			var target string
			var open, closed bool
			if _, rest, open = strings.Cut(rest, "<"); !open {
				break
			}
			if target, rest, closed = strings.Cut(rest, ">"); !closed {
				return false
			}
			path, _, _ := strings.Cut(target, "?")
			if _, declared, refused := l.call.Table.Match(http.MethodGet, path); !declared || refused != nil || l.call.Prefix != "" {
				return false
			}
		}
	}
	return len(links) > 0
}

// allowed returns the methods of the path, without the one that the API does not know.
func (l *Writer) allowed() string {
	var left []string
	for method := range strings.SplitSeq(l.call.Match.Allow, ", ") {
		if method != l.call.Match.Operation.Method {
			left = append(left, method)
		}
	}
	return strings.Join(left, ", ")
}

// Write implements http.ResponseWriter.
func (l *Writer) Write(p []byte) (int, error) {
	l.strip(http.StatusOK)
	return l.ResponseWriter.Write(p)
}

// ReadFrom makes sendfile possible.
func (l *Writer) ReadFrom(from io.Reader) (int64, error) {
	l.strip(http.StatusOK)
	return io.Copy(l.ResponseWriter, from)
}

// FlushError sends the header unless it was sent.
func (l *Writer) FlushError() error {
	l.strip(http.StatusOK)
	return http.NewResponseController(l.ResponseWriter).Flush()
}

// Flush is FlushError without the error.
func (l *Writer) Flush() { _ = l.FlushError() }
