package xmljson

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// Reader reads the tokens of a document in UTF-8, within the limits of this package. It refuses document types, and
// knows no entities but the five of XML.
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
		return nil, errors.New("a document type is not read")
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
