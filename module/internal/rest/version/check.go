package version

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// vendor is a facet of a registered type's name (RFC 6838 section 4.2).
var vendor = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9!#$&^_-]*(\.[A-Za-z0-9][A-Za-z0-9!#$&^_-]*)*$`)

func (c Config) check() error {
	switch {
	case c.Vendor != "" && !vendor.MatchString(c.Vendor):
		return fmt.Errorf("vendor %q: expected a name as in application/vnd.<vendor>.v1+json", c.Vendor)
	case c.Vendor != "" && len(c.Versions) == 0:
		return fmt.Errorf("vendor %s: expected a version, since application/vnd.%s.v1+json names one", c.Vendor, c.Vendor)
	case c.Now == nil && len(c.Versions) > 0:
		return fmt.Errorf("version: expected a clock")
	}
	seen := make(map[string]bool)
	for i := range c.Versions {
		v := &c.Versions[i]
		if err := v.check(); err != nil {
			return err
		}
		if seen[v.Name] {
			return fmt.Errorf("version %s: it is declared twice", v.Name)
		}
		seen[v.Name] = true
	}
	return nil
}

// check reports what is wrong with a version.
func (v *Version) check() error {
	switch {
	case !proper(v.Name) || strings.HasPrefix(v.Name, "v0") && v.Name != "v0":
		return fmt.Errorf("version %q: expected v and a number, such as v1", v.Name)
	case v.Gone && v.Sunset.IsZero():
		return fmt.Errorf("version %s: gone: expected sunset too, the time from which it answers 410", v.Name)
	case !v.Sunset.IsZero() && !v.Deprecated.IsZero() && v.Sunset.Before(v.Deprecated):
		return fmt.Errorf("version %s: sunset %s: expected no time before deprecated, %s (RFC 9745 section 4)", v.Name, v.Sunset.Format(day), v.Deprecated.Format(day))
	case v.Doc != "" && v.Deprecated.IsZero() && v.Sunset.IsZero():
		return fmt.Errorf("version %s: doc %s: expected deprecated or sunset, which it is about", v.Name, v.Doc)
	}
	for _, a := range [][2]string{{"successor", v.Successor}, {"doc", v.Doc}} {
		if a[1] != "" && !address(a[1]) {
			return fmt.Errorf("version %s: %s %q: expected an address such as https://api.example/v2, or a path", v.Name, a[0], a[1])
		}
	}
	return nil
}

const day = "2006-01-02"

// address reports whether a text may stand between the brackets of a Link.
func address(text string) bool {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("<>\"\\^`{|}", r) }) {
		return false
	}
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	if u.Scheme == "" {
		return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//")
	}
	return (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
