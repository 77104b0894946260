package harness

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Canaries are secrets that a test plants or receives, and that must not be found anywhere afterwards. It is safe for
// concurrent use.
type Canaries struct {
	mu    sync.Mutex
	names map[string]string // value -> what it is
	forms map[string]string // a form of a value -> what it is
}

// minCanary is the minimum length of a value. Shorter ones could be found by chance.
const minCanary = 10

// Plant records a value and returns it.
func (c *Canaries) Plant(t testing.TB, name, value string) string {
	t.Helper()
	if len(value) < minCanary {
		t.Fatalf("the canary %s is not there: %q", name, value)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.names == nil {
		c.names, c.forms = make(map[string]string), make(map[string]string)
	}
	if c.names[value] != "" {
		return value
	}
	c.names[value] = name
	for _, form := range encodedForms(value) {
		c.forms[form] = name
	}
	return value
}

// Names returns the names of all planted values.
func (c *Canaries) Names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, name := range c.names {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// encodedForms returns the forms in which a value may have been written: escaped, in base64 and in hexadecimal, with any
// surrounding text.
func encodedForms(value string) []string {
	all := []string{
		value, url.QueryEscape(value), url.PathEscape(value), url.QueryEscape(url.QueryEscape(value)),
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			// The characters that depend on the surrounding text are left out.
			s := encoding.EncodeToString(append(make([]byte, offset), value...))
			from := (offset*8 + 5) / 6
			all = append(all, s[from:(offset+len(value))*8/6])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Find searches a text, as it is and unescaped, and reports each secret in it except the named ones.
func (c *Canaries) Find(text string, except ...string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	texts := []string{text}
	if plain, err := url.QueryUnescape(text); err == nil {
		texts = append(texts, plain)
	}
	var found []string
	for form, name := range c.forms {
		if slices.Contains(except, name) {
			continue
		}
		for _, s := range texts {
			if at := strings.Index(s, form); at >= 0 {
				found = append(found, fmt.Sprintf("%s in ...%q", name, s[max(0, at-160):min(len(s), at+len(form)+40)]))
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

// FindFiles is Find for every file below a directory. except lists, by the base name of a file, the secrets that may be
// in it. A file with a nil list is ignored.
func (c *Canaries) FindFiles(t testing.TB, dir string, except map[string][]string) (found []string, looked int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		allowed, ok := except[d.Name()]
		if ok && allowed == nil {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		looked++
		for _, f := range c.Find(string(raw), allowed...) {
			found = append(found, d.Name()+": "+f)
		}
		return nil
	})
	FailOn(t, err)
	return found, looked
}
