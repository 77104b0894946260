package etag

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// List is the value of If-Match or If-None-Match.
type List struct {
	Any  bool // `*`
	Tags []Tag
}

// maxTags bounds the work on a list.
const maxTags = 64

// ParseList reads the lines of a field. It reports false for what is no list of tags.
func ParseList(lines []string) (l List, ok bool) {
	text := strings.TrimSpace(strings.Join(lines, ","))
	if text == "*" {
		return List{Any: true}, true
	}
	for text != "" {
		if after, empty := strings.CutPrefix(text, ","); empty { // RFC 9110 section 5.6.1: empty elements are passed over
			text = strings.TrimLeft(after, " \t")
			continue
		}
		t, rest, ok := cut(text)
		if !ok || rest != "" && rest[0] != ',' || len(l.Tags) == maxTags {
			return List{}, false
		}
		l.Tags = append(l.Tags, t)
		text = rest
	}
	return l, len(l.Tags) > 0
}

// has compares as If-Match does: no weak tag matches (RFC 9110 section 13.1.1). A strong one does in any spelling,
// since ours are never weak with the same text.
func (l List) has(t Tag) bool { return !t.Weak && l.Resembles(t) }

// Resembles reports whether a tag of the list is a spelling of t. Who compresses a response on its way to the client
// changes its tag: nginx and Cloudflare make it weak, and Caddy's encode and Apache add the coding.
func (l List) Resembles(t Tag) bool {
	return slices.ContainsFunc(l.Tags, func(o Tag) bool {
		coding, ok := strings.CutPrefix(o.Opaque, t.Opaque)
		return ok && slices.Contains(codings, coding)
	})
}

// codings are what Caddy's encode and Apache add to a tag.
var codings = []string{"", "-gzip", "-zstd", "-br"}

// Join is a list as a header has it.
func Join(tags []Tag) string {
	texts := make([]string, len(tags))
	for i, t := range tags {
		texts[i] = t.String()
	}
	return strings.Join(texts, ", ")
}

// Conditions are what a request makes itself depend on.
type Conditions struct {
	Match, NoneMatch List
	HasMatch         bool
	HasNoneMatch     bool
}

// Fields are those of conditional requests and of parts. None fits an upstream whose
// answers are translated.
var Fields = slices.Concat(httpx.RangeFields, []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"})

// Parse reads the conditions of a request.
func Parse(h http.Header) (c Conditions, refused *envelope.Refusal) {
	for _, field := range []struct {
		name string
		list *List
		has  *bool
	}{{"If-Match", &c.Match, &c.HasMatch}, {"If-None-Match", &c.NoneMatch, &c.HasNoneMatch}} {
		if *field.has = len(h[field.name]) > 0; !*field.has {
			continue
		}
		var ok bool
		if *field.list, ok = ParseList(h[field.name]); !ok {
			return c, envelope.Invalid(field.name, "must be a list of entity tags in quotes, or an asterisk")
		}
	}
	return c, nil
}

// Any reports whether there is a condition.
func (c Conditions) Any() bool { return c.HasMatch || c.HasNoneMatch }

// HaveTags reports whether a condition names a tag.
func (c Conditions) HaveTags() bool { return len(c.Match.Tags)+len(c.NoneMatch.Tags) > 0 }

// Current is the state of a resource.
type Current struct {
	Exists bool
	Tag    Tag
	Tagged bool
}

// Hold reports whether a request that changes the resource may be carried out.
func (c Conditions) Hold(now Current) bool {
	if c.HasMatch && !(now.Exists && (c.Match.Any || now.Tagged && c.Match.has(now.Tag))) {
		return false
	}
	return !(c.HasNoneMatch && now.Exists && (c.NoneMatch.Any || now.Tagged && c.NoneMatch.Resembles(now.Tag)))
}
