package restapi

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/headers"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// leaving is the client's writer. It removes the header fields of an operation's answer that
// end here, just before the header goes out: the dialect and the translation have read them by
// then. What handlers in front have set before stays.
type leaving struct {
	caddyhttp.ResponseWriterWrapper
	pass   *headers.Set
	call   *call
	match  routes.Match
	answer *answer.Answer
	to     *translate.Writer // knows whose Link it is; nil until the upstream is asked
	before []field           // what stood there, of fields that do not pass
	room   [2]field          // for the few that there are
	ended  []string          // trailers that end here
	done   bool
	// withholds reports a text that clients must not be told; nil: there is none.
	withholds func(string) bool
}

type field struct {
	name   string
	values []string
}

func newLeaving(w http.ResponseWriter, c *call, m routes.Match, answer *answer.Answer) *leaving {
	l := &leaving{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, pass: m.Operation.Answers.Fields(), call: c, match: m, answer: answer}
	l.before = l.room[:0]
	for name, values := range w.Header() {
		if !l.pass.Passes(name, headers.Answer{}) {
			l.before = append(l.before, field{name, values})
		}
	}
	return l
}

// WriteHeader removes. Of informational answers only what they say goes, since the header is
// still to come.
func (l *leaving) WriteHeader(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols {
		l.inform(status)
		return
	}
	l.strip(status)
	l.ResponseWriter.WriteHeader(status)
}

// inform passes an informational answer on. Early hints without a field say nothing.
func (l *leaving) inform(status int) {
	h := l.Header()
	whole := maps.Clone(h)
	l.remove(headers.Answer{Status: status}, false)
	if status != http.StatusEarlyHints || len(h["Link"]) > len(l.own("Link")) {
		l.ResponseWriter.WriteHeader(status)
	}
	clear(h)
	maps.Copy(h, whole)
}

func (l *leaving) strip(status int) {
	if l.done {
		return
	}
	l.done = true
	h := l.Header()
	a := headers.Answer{Status: status}
	if status < 300 {
		media, _ := envelope.MediaType(h)
		disposition, _, _ := strings.Cut(h.Get("Content-Disposition"), ";")
		attachment := strings.EqualFold(strings.TrimSpace(disposition), "attachment")
		a.Page = media != "" && l.answer.IsPage(media, envelope.IsJSON(media), attachment)
	}
	l.remove(a, status < 300 && (l.to != nil && l.to.Linked() || l.leadsHere(h["Link"])))
	if status == http.StatusMethodNotAllowed && !l.pass.Named("Allow") {
		h.Set("Allow", l.allowed()) // RFC 9110 section 15.5.6
	}
}

// remove removes the fields that do not pass. link says that Link does.
func (l *leaving) remove(a headers.Answer, link bool) {
	h := l.Header()
	for name, values := range h {
		field := strings.TrimPrefix(name, http.TrailerPrefix)
		if l.pass.Passes(field, a) || link && name == "Link" {
			if l.tells(field, values) {
				delete(h, name)
			}
			continue
		}
		switch own := l.own(name); {
		case len(own) > 0 && len(values) >= len(own) && slices.Equal(values[:len(own)], own):
			h[name] = values[:len(own):len(own)]
		case name == "Via" && strings.HasSuffix(values[len(values)-1], " Caddy"):
			h[name] = values[len(values)-1:] // the proxy's own, without those of proxies behind it
		default:
			delete(h, name)
		}
	}
	if len(h["Trailer"]) > 0 {
		l.trailers(h, a)
	}
}

// tells reports whether an upstream's field has an address with a secret of the gateway's in it:
// many repeat the one that they were asked at.
func (l *leaving) tells(field string, values []string) bool {
	switch {
	case l.withholds == nil:
		return false
	case field == "Link" && l.to != nil && l.to.Linked(): // it is ours
		return false
	case field != "Link" && field != "Location" && field != "Content-Location":
		return false
	}
	return slices.ContainsFunc(values, l.withholds)
}

// own are the values that a field had before the upstream was asked.
func (l *leaving) own(name string) []string {
	for _, f := range l.before {
		if f.name == name {
			return f.values
		}
	}
	return nil
}

// trailers leaves in the announcement those that pass.
func (l *leaving) trailers(h http.Header, a headers.Answer) {
	var left []string
	for _, line := range h["Trailer"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = http.CanonicalHeaderKey(strings.TrimSpace(name)); l.pass.Passes(name, a) {
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

// finish is for the end of the answer. What the header has by now are trailers, or belongs to
// an answer that was not given.
func (l *leaving) finish() {
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
		if ok && !l.pass.Passes(field, headers.Answer{}) || l.tells(field, values) {
			delete(h, name)
		}
	}
}

// leadsHere reports whether all targets of an upstream's Link are addresses that clients of
// this API can ask for too.
func (l *leaving) leadsHere(links []string) bool {
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
			if _, declared, refused := l.call.table.Match(http.MethodGet, path); !declared || refused != nil || l.call.Prefix != "" {
				return false
			}
		}
	}
	return len(links) > 0
}

// allowed are the methods of the address, without the one that the upstream does not know.
func (l *leaving) allowed() string {
	var left []string
	for method := range strings.SplitSeq(l.match.Allow, ", ") {
		if method != l.match.Operation.Method {
			left = append(left, method)
		}
	}
	return strings.Join(left, ", ")
}

// Write implements http.ResponseWriter.
func (l *leaving) Write(p []byte) (int, error) {
	l.strip(http.StatusOK)
	return l.ResponseWriter.Write(p)
}

// ReadFrom keeps the way open for sendfile.
func (l *leaving) ReadFrom(from io.Reader) (int64, error) {
	l.strip(http.StatusOK)
	return l.ResponseWriterWrapper.ReadFrom(from)
}

// FlushError sends the header if it was not sent.
func (l *leaving) FlushError() error {
	l.strip(http.StatusOK)
	return http.NewResponseController(l.ResponseWriter).Flush()
}

// Flush is FlushError without the error.
func (l *leaving) Flush() { _ = l.FlushError() }
