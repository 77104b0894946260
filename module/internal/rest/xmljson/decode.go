package xmljson

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Limits of a document, all of which is held in memory.
const (
	MaxSize       = 1 << 20
	maxDepth      = 64
	maxElements   = 50_000
	maxAttributes = 32 // of one element
	maxName       = 256
)

// Shape describes the documents of a resource.
type Shape struct {
	// Root is the name of the outermost element. Its content becomes the JSON.
	Root string
	// Lists has the paths below Root of elements that are lists even if there is one or none: `article`,
	// `article/tags/tag`.
	Lists []string
}

// errRoot is returned for a document with another outermost element.
var errRoot = errors.New("unexpected root element")

// IsName reports whether an element can have this name: ASCII, without a prefix.
func IsName[T string | []byte](text T) bool {
	for i := range len(text) {
		c := text[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '.' && c != '-') {
			return false
		}
	}
	return 0 < len(text) && len(text) <= maxName
}

// Check returns an error for an invalid Shape.
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
		if slices.Contains(s.Lists[:i], path) {
			return fmt.Errorf("list %s is given twice", path)
		}
	}
	return nil
}

// IsXML reports whether a media type is XML, but not XHTML.
func IsXML(media string) bool {
	return media == "application/xml" || media == "text/xml" || strings.HasSuffix(media, "+xml") && media != "application/xhtml+xml"
}

var encoding = regexp.MustCompile(`^<\?xml[^>]*\sencoding=["']([A-Za-z0-9._-]+)["']`)

// Encoding returns the charset in the XML declaration, "" if there is none.
func Encoding(document []byte) string {
	document = bytes.TrimPrefix(document, []byte("\xef\xbb\xbf"))
	if m := encoding.FindSubmatch(document[:min(len(document), 256)]); m != nil {
		return string(m[1])
	}
	return ""
}

// element is an element that is being read.
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

// Decode converts a document in UTF-8 to JSON. All values are strings, lists and objects.
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
			e, err := s.beginElement(open, t, done != nil)
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

func (s Shape) beginElement(open []*element, t xml.StartElement, second bool) (*element, error) {
	e := &element{name: t.Name.Local}
	switch {
	case len(e.name) > maxName:
		return nil, fmt.Errorf("an element has a name of more than %d bytes", maxName)
	case len(open) == 0 && (t.Name.Local != s.Root || second):
		return nil, fmt.Errorf("%w: %s, expected %s", errRoot, t.Name.Local, s.Root)
	}
	for _, a := range t.Attr {
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			continue
		}
		e.add("@"+a.Name.Local, splice.Quote(a.Value), false)
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

// below returns what is left of a list's path below the innermost open element, "" if that is the list. It reports
// false if the path does not lead through the open elements.
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
	return slices.ContainsFunc(s.Lists, func(l string) bool { rest, ok := below(l, open); return ok && rest == "" })
}

// value returns the innermost open element as JSON. Declared lists without elements are empty lists.
func (s Shape) value(e *element, open []*element) []byte {
	for _, l := range s.Lists {
		name, ok := below(l, open)
		if _, there := e.at[name]; ok && name != "" && !there && !strings.Contains(name, "/") {
			e.members = append(e.members, member{name: name, list: true})
		}
	}
	text := strings.TrimSpace(e.text.String())
	if len(e.members) == 0 && len(open) > 1 {
		return splice.Quote(text)
	}
	if text != "" {
		e.members = append(e.members, member{name: "#text", values: [][]byte{splice.Quote(text)}})
	}
	out := []byte{'{'}
	for i, m := range e.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, splice.Quote(m.name)...), ':')
		values := bytes.Join(m.values, []byte(","))
		if m.list {
			values = append(append([]byte{'['}, values...), ']')
		}
		out = append(out, values...)
	}
	return append(out, '}')
}

// Reader reads the tokens of a UTF-8 document within the limits of this package. It refuses document types, and
// knows only the five entities of XML.
type Reader struct {
	d            *xml.Decoder
	count, depth int
}

// NewReader returns a reader. It refuses a document of more than MaxSize bytes.
func NewReader(document []byte) (*Reader, error) {
	if len(document) > MaxSize {
		return nil, fmt.Errorf("the document has more than %d bytes", MaxSize)
	}
	d := xml.NewDecoder(bytes.NewReader(document))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // already decoded
	return &Reader{d: d}, nil
}

// Token returns the next token, io.EOF after the last. The token is valid until the next call.
func (r *Reader) Token() (xml.Token, error) {
	t, err := r.d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case xml.Directive:
		return nil, errors.New("document types are not supported")
	case xml.StartElement:
		if r.count++; r.count > maxElements || r.depth == maxDepth || len(t.Attr) > maxAttributes {
			return nil, fmt.Errorf("more than %d elements, %d levels or %d attributes", maxElements, maxDepth, maxAttributes)
		}
		r.depth++
	case xml.EndElement:
		r.depth--
	}
	return t, nil
}
