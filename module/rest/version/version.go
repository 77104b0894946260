package version

import (
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Version is one version of the API.
type Version struct {
	// The name, `v` and a number; the first segment of paths.
	Name string `json:"name"`
	// Removes the name from paths that are passed to the upstream.
	StripPrefix bool `json:"strip_prefix,omitempty"`
	// Since when it is not to be used any more (RFC 9745). Default: it is not deprecated.
	Deprecated time.Time `json:"deprecated,omitzero"`
	// When it ends (RFC 8594). Default: it does not.
	Sunset time.Time `json:"sunset,omitzero"`
	// The address of the version that follows it.
	Successor string `json:"successor,omitempty"`
	// The address of what is written about the change.
	Doc string `json:"doc,omitempty"`
	// Answers 410 after `sunset`.
	Gone bool `json:"gone,omitempty"`
}

// Set are the versions of an API.
type Set struct {
	vendor   string
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
	return &Set{c.Vendor, c.Versions, c.Now}, nil
}

// Choice is the version that a request is answered with.
type Choice struct {
	Index     int      // in the configuration; -1: there are none
	Version   *Version // nil likewise
	Prefix    string   // what of the path named the version: "/v1", or ""
	Path      string   // the rest
	MediaType string   // of the answer, when the vendor's was asked for
}

// Negotiate chooses. path is escaped.
func (s *Set) Negotiate(path string, accept []string) (Choice, *envelope.Refusal) {
	c := Choice{Index: -1, Path: path}
	for i := range s.versions {
		v := &s.versions[i]
		if rest, ok := strings.CutPrefix(path, "/"+v.Name); ok && (rest == "" || rest[0] == '/') {
			return Choice{Index: i, Version: v, Prefix: "/" + v.Name, Path: rest}, nil
		}
	}
	return c, nil
}

// Header adds what every answer of the version says.
func (c Choice) Header(h http.Header) {}
