package version

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Version is one version of the API.
type Version struct {
	// The name, `v` and a number; it is the first segment of paths. Required.
	Name string `json:"name"`
	// Removes the name from paths that are passed to the upstream.
	StripPrefix bool `json:"strip_prefix,omitempty"`
	// When the version is or will be deprecated (RFC 9745). Default: it is not deprecated.
	Deprecated time.Time `json:"deprecated,omitzero"`
	// When the version will be shut down (RFC 8594). Default: never.
	Sunset time.Time `json:"sunset,omitzero"`
	// The URL or path of the version that replaces it. Default: none.
	Successor string `json:"successor,omitempty"`
	// The URL of documentation about the change. Default: none.
	Doc string `json:"doc,omitempty"`
	// Responds with 410 after `sunset`.
	Gone bool `json:"gone,omitempty"`
}

// Set are the versions of an API.
type Set struct {
	vendor   string // in lower case
	versions []Version
	now      func() time.Time
}

// Config is what a set is made of.
type Config struct {
	Vendor   string // of application/vnd.<vendor>.v1+json; "": versions are in paths only
	Versions []Version
	Now      func() time.Time
}

// New checks the versions. Without any, every request is for the one there is.
func New(c Config) (*Set, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Set{strings.ToLower(c.Vendor), c.Versions, c.Now}, nil
}

// Choice is the version that a request is answered with.
type Choice struct {
	Index     int      // in the configuration; -1: there are none, or none was named
	Version   *Version // nil likewise
	Prefix    string   // what of the path named the version: "/v1", or ""
	Path      string   // the rest, "/" at least
	MediaType string   // of the answer, when the vendor's was asked for

	// Unacceptable says that Accept names other types alone, or other vendors'. What answers
	// in JSON refuses that with 406; what is not the API's own may have the type.
	Unacceptable bool

	vary bool // Accept was looked at
}

// Negotiate chooses. path is escaped, accept are the values of the Accept fields. The
// path has the first word; what Accept says must not contradict it. A request that names
// no version in either place is for none: whoever wants all to name one declares nothing
// besides versions.
//
// A choice is as good as it can be when it is refused too: its Header goes with every
// answer.
func (s *Set) Negotiate(path string, accept []string) (Choice, *envelope.Refusal) {
	c := Choice{Index: -1, Path: path, vary: s.vendor != "" && len(s.versions) > 0}
	if len(s.versions) == 0 {
		return c, nil
	}
	var asked wish
	if s.vendor != "" {
		asked = s.wish(accept)
		c.Unacceptable = asked.plain <= 0 && !asked.vendor
	}
	if name, rest, ok := leading(path); ok {
		c.Prefix, c.Path = "/"+name, rest
		if c.Index = s.index(name); c.Index < 0 {
			c.Prefix, c.Path = "", path
			return c, envelope.Refuse(http.StatusNotFound, "there is no such version of this API")
		}
		c.Version = &s.versions[c.Index]
		return s.agree(c, asked)
	}
	if asked.unmet() {
		return c, envelope.Refuse(http.StatusNotAcceptable, "the version of this API that is accepted does not exist")
	}
	if c.Index = asked.best(s.ended); c.Index >= 0 {
		c.Version = &s.versions[c.Index]
		c.MediaType = s.media(c.Version)
	}
	return s.alive(c)
}

// agree holds what the path says against Accept.
func (s *Set) agree(c Choice, asked wish) (Choice, *envelope.Refusal) {
	quality, named := asked.of(c.Index)
	switch {
	case asked.vendor && quality == 0 && asked.plain == 0:
		return c, envelope.Refuse(http.StatusNotAcceptable, "the version in the address is none of those that Accept names")
	case named && quality > 0 && quality >= asked.plain:
		c.MediaType = s.media(c.Version)
	}
	return s.alive(c)
}

func (s *Set) alive(c Choice) (Choice, *envelope.Refusal) {
	if c.Index >= 0 && s.ended(c.Index) {
		return c, envelope.Refuse(http.StatusGone, "this version of the API has ended")
	}
	return c, nil
}

// ended reports that a version is answered with 410.
func (s *Set) ended(index int) bool {
	v := &s.versions[index]
	return v.Gone && !s.now().Before(v.Sunset)
}

func (s *Set) media(v *Version) string { return "application/vnd." + s.vendor + "." + v.Name + "+json" }

func (s *Set) index(name string) int {
	for i := range s.versions {
		if s.versions[i].Name == name {
			return i
		}
	}
	return -1
}

// leading is the version in front of a path. The segment is looked at decoded, since the
// guard in front and the upstream behind do so too: /%761/articles must not be another
// way to a version that has ended.
func leading(path string) (name, rest string, ok bool) {
	first, rest, more := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	name, err := url.PathUnescape(first)
	if err != nil || !proper(name) {
		return "", "", false
	}
	if !more {
		return name, "/", true
	}
	return name, "/" + rest, true
}

// proper reports whether a text is a version's name: v and a number.
func proper(name string) bool {
	digits, ok := strings.CutPrefix(name, "v")
	return ok && digits != "" && !strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
}

// Header adds what every answer of the version says. It may be called again for the same
// header: nothing is there twice.
func (c Choice) Header(h http.Header) {
	if c.vary {
		add(h, "Vary", "Accept", func(present string) bool { return present == "*" || strings.EqualFold(present, "Accept") })
	}
	v := c.Version
	if v == nil {
		return
	}
	if !v.Deprecated.IsZero() {
		h.Set("Deprecation", "@"+strconv.FormatInt(v.Deprecated.Unix(), 10)) // RFC 9651 section 3.3.7
	}
	if !v.Sunset.IsZero() {
		h.Set("Sunset", v.Sunset.UTC().Format(http.TimeFormat))
	}
	for _, link := range v.links() {
		add(h, "Link", link, func(present string) bool { return present == link })
	}
}

// links are values of the Link field.
func (v *Version) links() (list []string) {
	if v.Successor != "" {
		list = append(list, "<"+v.Successor+`>; rel="successor-version"`) // RFC 5829 section 3.4
	}
	var rels []string
	if !v.Deprecated.IsZero() {
		rels = append(rels, "deprecation") // RFC 9745 section 3
	}
	if !v.Sunset.IsZero() {
		rels = append(rels, "sunset") // RFC 8594 section 6
	}
	if v.Doc != "" {
		list = append(list, "<"+v.Doc+`>; rel="`+strings.Join(rels, " ")+`"`)
	}
	return list
}

// add adds a value unless one is present that makes it superfluous. A field of the
// upstream's, which may have several in a line, stays.
func add(h http.Header, name, value string, superfluous func(present string) bool) {
	for _, line := range h[name] {
		if superfluous(line) {
			return
		}
		for one := range strings.SplitSeq(line, ",") {
			if superfluous(strings.TrimSpace(one)) {
				return
			}
		}
	}
	h.Add(name, value)
}
