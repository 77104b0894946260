package envelope

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope/leak"
)

// Kind is the format of an upstream's error. The set is closed, so that it can be a label of
// metrics.
type Kind string

const (
	JSON   Kind = "json"
	HTML   Kind = "html"
	Text   Kind = "text"
	Empty  Kind = "empty"
	Shaped Kind = "shaped" // in our form already
	Other  Kind = "other"  // unreadable, or of another type
)

// Kinds lists all kinds.
var Kinds = []Kind{JSON, HTML, Text, Empty, Shaped, Other}

type translation struct {
	kind    Kind
	err     Error // its message is not shortened yet
	heading bool  // the message is from HTML or plain text
	asIs    bool  // the body goes to the client unchanged
}

// shortened returns the error with a message of the length that clients get.
func (t *translation) shortened() Error {
	most := maxMessage
	if t.heading {
		most = maxHeading
	}
	e := t.err
	e.Message = shorten(e.Message, most)
	return e
}

// translate reads an upstream's error. cut says that raw is truncated.
func (c *Config) translate(h http.Header, status int, raw []byte, cut bool) translation {
	if len(raw) == 0 {
		return translation{kind: Empty}
	}
	plain, more, ok := decompress(h["Content-Encoding"], raw)
	if !ok {
		return translation{kind: Other}
	}
	cut = cut || more
	media, label := MediaType(h)
	text, ok := charset.Read(label, c.Charset).Text(plain, cut)
	if !ok {
		return translation{kind: Other}
	}
	inUTF8 := bytes.Equal(text, plain)
	text = bytes.TrimSpace(text)
	t := translation{kind: sniff(media, text)}
	if inUTF8 && !cut && t.kind == Other && isPrecondition(media, status, text) {
		t.asIs = true
		return t
	}
	readable := c.Expose || status < http.StatusInternalServerError
	if t.kind == JSON {
		var j said
		j, ok = readJSON(text)
		if ok = ok && !cut; ok && (j.exact || c.dialect.usual()) {
			t.read(j, readable)
			t.asIs = j.exact && IsJSON(media) && !bytes.HasPrefix(plain, bom) && len(text) <= leak.MaxSearched && !leak.In(string(text))
			return t
		}
		if c.dialect != nil && t.dialect(c.dialect, text, status, cut, readable, j) || ok {
			return t
		}
		t.kind = Other
		if !cut && (media == "text/plain" || media == "") {
			t.kind = Text // "[ERROR] no such thing"
		}
	}
	switch {
	case !readable:
	case t.kind == HTML && c.dialect.reads(HTML):
		t.err.Message, t.heading = safeText(htmlHeading(text, cut)), true
	case t.kind == Text && c.dialect.reads(Text) && !leak.In(string(text)):
		if line, _, whole := bytes.Cut(text, []byte("\n")); whole || !cut {
			t.err.Message, t.heading = safeText(string(line)), true
		}
	}
	return t
}

// dialect reads JSON by the declared rules. It reports false if the text is not JSON.
func (t *translation) dialect(d *dialect, text []byte, status int, cut, readable bool, j said) bool {
	e, found, _ := d.look(text, cut)
	if e == nil {
		return false
	}
	defer e.Release()
	told, usual := d.told(e, found, status, readable, j.shaped)
	if usual {
		t.read(j, readable)
	} else {
		t.err = told
	}
	return true
}

func (t *translation) read(j said, readable bool) {
	if j.shaped {
		t.kind, t.err.Code = Shaped, j.code
	}
	if readable || j.exact {
		t.err.Message, t.err.Field = safeText(j.message), safeField(j.field)
	}
}

// sniff trusts the body more than its label: legacy upstreams label JSON as HTML.
func sniff(media string, text []byte) Kind {
	switch {
	case len(text) == 0:
		return Empty
	case text[0] == '{' || text[0] == '[' || IsJSON(media):
		return JSON
	case media == "text/html" || media == "application/xhtml+xml" || hasFold(text, "<!doctype html") || hasFold(text, "<html"):
		if bytes.Contains(text, []byte(`{"`)) && bytes.HasSuffix(text, []byte("}")) {
			return JSON // after a notice
		}
		return HTML
	case text[0] == '<':
		return Other
	case media == "text/plain" || media == "":
		return Text
	}
	return Other
}

func hasFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(string(text[:len(prefix)]), prefix)
}
