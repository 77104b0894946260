package xmljson

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// The most that a document may have: all of it is held in memory.
const (
	MaxSize       = 1 << 20
	maxDepth      = 64
	maxElements   = 50_000
	maxAttributes = 32 // of one element
	maxName       = 256
)

// Shape is what a document looks like.
type Shape struct {
	// Root is the name of its outermost element, whose content is the JSON.
	Root string
	// Lists are the paths of elements below it that are lists however many there are:
	// `article`, `article/tags/tag`.
	Lists []string
}

var (
	name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]*$`)

	// ErrRoot is the error for a document with another outermost element.
	ErrRoot = errors.New("another outermost element")
)

// IsName reports whether an element can be called so. Names are of ASCII and without a prefix.
func IsName(text string) bool { return len(text) <= maxName && name.MatchString(text) }

// Check names what is wrong with it.
func (s Shape) Check() error {
	if !IsName(s.Root) {
		return fmt.Errorf("invalid element '%s', expected a name such as article", s.Root)
	}
	for i, path := range s.Lists {
		for part := range strings.SplitSeq(path, "/") {
			if !IsName(part) {
				return fmt.Errorf("invalid list '%s', expected a path of elements below %s such as article or article/tags/tag", path, s.Root)
			}
		}
		for _, other := range s.Lists[:i] {
			if other == path {
				return fmt.Errorf("list %s is given twice", path)
			}
		}
	}
	return nil
}

// IsXML reports whether a media type is one of such documents.
func IsXML(media string) bool {
	return media == "application/xml" || media == "text/xml" || strings.HasSuffix(media, "+xml") && media != "application/xhtml+xml"
}

var encoding = regexp.MustCompile(`^<\?xml[^>]*\sencoding=["']([A-Za-z0-9._-]+)["']`)

// Encoding is the charset that the document itself says it is in, "" for none.
func Encoding(document []byte) string {
	document = bytes.TrimPrefix(document, []byte("\xef\xbb\xbf"))
	if m := encoding.FindSubmatch(document[:min(len(document), 256)]); m != nil {
		return string(m[1])
	}
	return ""
}

// element is one that is being read.
type element struct {
	name    string
	text    strings.Builder
	members []member
	at      map[string]int // of members
}

type member struct {
	name   string
	values [][]byte
	list   bool
}

// Decode makes JSON of a document in UTF-8. All values in it are texts, lists and objects.
func (s Shape) Decode(document []byte) ([]byte, error) {
	d, err := NewReader(document)
	if err != nil {
		return nil, err
	}
	var open []*element
	var done []byte
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && done != nil {
			return done, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			e, err := s.begin(open, t, done != nil)
			if err != nil {
				return nil, err
			}
			open = append(open, e)
		case xml.EndElement:
			e := open[len(open)-1]
			value, listed := s.value(e, open), s.isList(open)
			if open = open[:len(open)-1]; len(open) == 0 {
				done = value
				continue
			}
			open[len(open)-1].add(e.name, value, listed)
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text.Write(t)
			}
		}
	}
}

func (s Shape) begin(open []*element, t xml.StartElement, second bool) (*element, error) {
	e := &element{name: t.Name.Local}
	switch {
	case len(e.name) > maxName:
		return nil, fmt.Errorf("an element has a name of more than %d bytes", maxName)
	case len(open) == 0 && (t.Name.Local != s.Root || second):
		return nil, fmt.Errorf("%w: %s, expected %s", ErrRoot, t.Name.Local, s.Root)
	}
	for _, a := range t.Attr {
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			continue
		}
		e.add("@"+a.Name.Local, quote(a.Value), false)
	}
	return e, nil
}

func (e *element) add(name string, value []byte, list bool) {
	if e.at == nil {
		e.at = make(map[string]int)
	}
	i, ok := e.at[name]
	if !ok {
		i = len(e.members)
		e.at[name], e.members = i, append(e.members, member{name: name})
	}
	e.members[i].values = append(e.members[i].values, value)
	e.members[i].list = list || len(e.members[i].values) > 1
}

// below is what of the path of a list lies below the innermost of the open elements: "" where
// that is the list. ok is false where the path does not lead there.
func below(list string, open []*element) (rest string, ok bool) {
	for i := 1; i < len(open); i++ {
		if list, ok = strings.CutPrefix(list, open[i].name); !ok {
			return "", false
		}
		if list == "" {
			return "", i == len(open)-1
		}
		if list[0] != '/' {
			return "", false
		}
		list = list[1:]
	}
	return list, true
}

// isList reports whether the innermost of the open elements is one of the declared lists.
func (s Shape) isList(open []*element) bool {
	for _, l := range s.Lists {
		if rest, ok := below(l, open); ok && rest == "" {
			return true
		}
	}
	return false
}

// value is the innermost of the open elements as JSON. Lists that nothing was found of are empty.
func (s Shape) value(e *element, open []*element) []byte {
	for _, l := range s.Lists {
		name, ok := below(l, open)
		if _, there := e.at[name]; ok && name != "" && !there && !strings.Contains(name, "/") {
			e.members = append(e.members, member{name: name, list: true})
		}
	}
	text := strings.TrimSpace(e.text.String())
	if len(e.members) == 0 && len(open) > 1 {
		return quote(text)
	}
	if text != "" {
		e.members = append(e.members, member{name: "#text", values: [][]byte{quote(text)}})
	}
	out := []byte{'{'}
	for i, m := range e.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, quote(m.name)...), ':')
		values := bytes.Join(m.values, []byte(","))
		if m.list {
			values = append(append([]byte{'['}, values...), ']')
		}
		out = append(out, values...)
	}
	return append(out, '}')
}

func quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
