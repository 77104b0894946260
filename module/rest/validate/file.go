package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxFile bounds a schema's file.
const maxFile = 16 << 20

// files reads the documents that a schema consists of. Nothing is fetched over the network: a
// configuration must load in the same way on every node, even offline.
type files struct {
	seen map[string]any
	old  bool // they are OpenAPI 3.0
}

// Load implements jsonschema.URLLoader.
func (f *files) Load(at string) (any, error) {
	if doc, ok := f.seen[at]; ok {
		return doc, nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "file" {
		return nil, errors.New("expected a file: schemas are not fetched from URLs")
	}
	doc, err := read(filepath.FromSlash(u.Path))
	if err != nil {
		return nil, err
	}
	if f.old {
		modern(doc)
	}
	f.seen[at] = doc
	return doc, nil
}

func read(name string) (any, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, fmt.Errorf("%s: expected at most %d bytes", name, maxFile)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		return doc, nil
	}
	var wrong *json.SyntaxError
	if errors.As(err, &wrong) {
		line, column := position(text, int(wrong.Offset))
		hint := ""
		if ext := strings.ToLower(filepath.Ext(name)); ext == ".yaml" || ext == ".yml" {
			hint = "; convert YAML to JSON"
		}
		return nil, fmt.Errorf("%s:%d:%d: expected JSON: %w%s", name, line, column, err, hint)
	}
	return nil, fmt.Errorf("%s: expected JSON: %w", name, err)
}

// position returns the line and column of the byte before an offset.
func position(text []byte, offset int) (line, column int) {
	before := text[:max(0, min(offset-1, len(text)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// address returns the URL of a file.
func address(absolute string) string {
	path := filepath.ToSlash(absolute)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func fragment(path []string) string {
	if len(path) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteByte('#')
	for _, name := range path {
		b.WriteString("/" + url.PathEscape(escaper.Replace(name)))
	}
	return b.String()
}
