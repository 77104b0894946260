package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Place is where the value of a placeholder comes from.
type Place string

const (
	Path  Place = "path"  // {id}: a value of the client's path
	Query Place = "query" // {query.start}: a parameter, by the API's name
	Body  Place = "body"  // {body}, {body.title}: the client's body or a member of it, by the API's name
)

// Ref is a placeholder.
type Ref struct {
	Place   Place
	Name    string // "" for the whole body; of a configured value its text
	integer bool   // the text must be a whole number, and is sent as one
}

// String is the placeholder as it is written.
func (r Ref) String() string {
	if r.Place == configured {
		if r.integer {
			return strings.TrimSuffix(r.Name, "}") + "|int}"
		}
		return r.Name
	}
	text := r.Name
	if r.Place != Path {
		text = strings.TrimSuffix(string(r.Place)+"."+r.Name, ".")
	}
	if r.integer {
		text += "|int"
	}
	return "{" + text + "}"
}

// node is a value of a template.
type node struct {
	literal json.RawMessage // a scalar; nil: see below
	ref     *Ref
	names   []string // of an object's members
	values  []node   // of an object's members or a list
	object  bool
}

// Template are the parameters of a call: a JSON array or object with placeholders as values.
type Template struct {
	root       *node // nil: the call has none
	refs       []Ref
	configured []Ref // those of refs that the configuration gives
}

const (
	maxTemplate = 16 << 10
	maxDepth    = 32
)

var (
	placeholder = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_-]*)(?:\.([^{}|"\s]{1,256}))?(\|int)?\}`)
	methodName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:/-]{0,255}$`)
	quotedRef   = regexp.MustCompile(`\{[A-Za-z_][^{}"\s]*\}`)
)

// CheckMethod says what is wrong with the name of a method.
func CheckMethod(name string) error {
	switch {
	case !methodName.MatchString(name):
		return fmt.Errorf("invalid method '%s', expected a name such as article.get", name)
	case strings.HasPrefix(name, "rpc."):
		return fmt.Errorf("invalid method '%s', expected one that does not begin with rpc., which the protocol keeps for itself", name)
	}
	return nil
}

// Parse compiles a template; "" is a call without parameters. names are the placeholders of the
// client's path.
func Parse(text string, names []string) (*Template, error) {
	t := new(Template)
	if strings.TrimSpace(text) == "" {
		return t, nil
	}
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("parameters of %d bytes, expected at most %d", len(text), maxTemplate)
	}
	plain, err := t.mark(text, names)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(plain))
	d.UseNumber()
	root, err := t.next(d, 0)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows them")
		}
	}
	if err == nil && (root.literal != nil || root.ref != nil && (root.ref.Place != Body || root.ref.Name != "")) {
		err = errors.New("they are neither")
	}
	if err != nil {
		return nil, fmt.Errorf("invalid parameters %s: %w, expected a JSON array or object with placeholders such as [{id}]", text, err)
	}
	t.root = &root
	return t, nil
}

// mark puts strings that stand for placeholders in their places, so that the rest can be read
// as JSON: NUL and the index in refs.
func (t *Template) mark(text string, names []string) (string, error) {
	if strings.Contains(text, "\x00") || strings.Contains(text, `\u0000`) {
		return "", errors.New("invalid parameters: they have a NUL, expected none")
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] == '"' {
			literal := text[i : i+endOfString(text[i:])]
			i += len(literal)
			found := quotedRef.FindAllString(literal, -1)
			if len(found) == 0 {
				b.WriteString(literal)
				continue
			}
			value, err := configuredText(literal, found)
			if err != nil {
				return "", err
			}
			b.WriteString(t.note(Ref{Place: configured, Name: value}))
			continue
		}
		m := placeholder.FindStringSubmatch(text[i:])
		if text[i] != '{' || m == nil {
			b.WriteByte(text[i])
			i++
			continue
		}
		ref, err := parseRef(m, names)
		if err != nil {
			return "", err
		}
		b.WriteString(t.note(ref))
		i += len(m[0])
	}
	return b.String(), nil
}

// note keeps a placeholder, and returns the string that stands for it.
func (t *Template) note(ref Ref) string {
	t.refs = append(t.refs, ref)
	if ref.Place == configured {
		t.configured = append(t.configured, ref)
	}
	return `"\u0000` + strconv.Itoa(len(t.refs)-1) + `"`
}

// endOfString is the length of the JSON string that a text begins with.
func endOfString[T string | []byte](text T) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func parseRef(m []string, names []string) (Ref, error) {
	ref := Ref{Name: m[2], integer: m[3] != ""}
	switch {
	case m[1] == "body" && !ref.integer:
		ref.Place = Body
		return ref, nil
	case m[1] == "query" && m[2] != "":
		ref.Place = Query
		return ref, nil
	case m[2] == "":
		ref.Place, ref.Name = Path, m[1]
		if slices.Contains(names, m[1]) {
			return ref, nil
		}
	case isConfigured("{" + m[1] + "." + m[2] + "}"):
		ref.Place, ref.Name = configured, "{"+m[1]+"."+m[2]+"}"
		return ref, nil
	}
	known := ""
	for _, name := range names {
		known += "{" + name + "}, {" + name + "|int}, "
	}
	return ref, fmt.Errorf("unexpected placeholder %s, expected %s{query.<parameter>}, {query.<parameter>|int}, {body}, {body.<member>}, {env.<name>}, {file.<path>} or {http.auth.user.<name>}", m[0], known)
}

// next reads a value. A name must not be a placeholder: the structure of a call is fixed.
func (t *Template) next(d *json.Decoder, depth int) (n node, err error) {
	if depth > maxDepth {
		return n, fmt.Errorf("they are nested in more than %d levels", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return n, errors.New("they are not JSON")
	}
	switch v := token.(type) {
	case json.Delim:
		n.object = v == '{'
		for d.More() {
			if n.object {
				name, err := t.name(d, n.names)
				if err != nil {
					return n, err
				}
				n.names = append(n.names, name)
			}
			value, err := t.next(d, depth+1)
			if err != nil {
				return n, err
			}
			n.values = append(n.values, value)
		}
		if _, err := d.Token(); err != nil {
			return n, errors.New("they are not JSON")
		}
		return n, nil
	case string:
		if mark, ok := strings.CutPrefix(v, "\x00"); ok {
			i, _ := strconv.Atoi(mark) // mark wrote it
			n.ref = &t.refs[i]
			return n, nil
		}
		n.literal = splice.Quote(v)
	case json.Number:
		n.literal = json.RawMessage(v.String())
	case bool:
		n.literal = json.RawMessage(strconv.FormatBool(v))
	default:
		n.literal = json.RawMessage("null")
	}
	return n, nil
}

func (t *Template) name(d *json.Decoder, before []string) (string, error) {
	token, err := d.Token()
	name, ok := token.(string)
	if err != nil || !ok {
		return "", errors.New("they are not JSON")
	}
	if strings.HasPrefix(name, "\x00") {
		return "", errors.New("a placeholder stands in the place of a name")
	}
	if slices.Contains(before, name) {
		return "", fmt.Errorf("member %s is there twice", name)
	}
	return name, nil
}

// Refs are the placeholders.
func (t *Template) Refs() []Ref { return t.refs }

// Has reports whether a value is sent.
func (t *Template) Has(place Place, name string) bool {
	return slices.ContainsFunc(t.refs, func(r Ref) bool { return r.Place == place && r.Name == name })
}
