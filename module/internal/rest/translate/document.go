package translate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Document reads a whole answer that is to be JSON: without its coding, in UTF-8, and without
// what a script printed in front of it. named is the charset of the configuration, nil for none.
// What comes out has at most limit bytes.
func Document(h http.Header, body []byte, named *charset.Charset, limit int) ([]byte, *Failure) {
	media := mediaOf(h)
	sure := envelope.IsJSON(media) || strings.HasPrefix(media, "application/json") // json-rpc, jsonrequest
	if !sure && !envelope.MaybeJSON(media) {
		return nil, &Failure{Syntax, fmt.Errorf("Content-Type %q, expected JSON", media)}
	}
	body, f := unpackAll(h, body, limit)
	if f != nil {
		return nil, f
	}
	text, ok := charset.Read(charsetOf(h), named).Text(body, false)
	if !ok {
		return nil, &Failure{Charset, charset.ErrText}
	}
	at, ok := findJSON(text, sure, true)
	if !ok {
		return nil, &Failure{Syntax, errors.New("it is no JSON")}
	}
	return text[at:], nil
}

// XMLDocument is the same for an answer that is to be XML.
func XMLDocument(h http.Header, body []byte, named *charset.Charset) ([]byte, *Failure) {
	if media := mediaOf(h); !xmljson.IsXML(media) {
		return nil, &Failure{Syntax, fmt.Errorf("Content-Type %q, expected XML", media)}
	}
	body, f := unpackAll(h, body, xmljson.MaxSize)
	if f != nil {
		return nil, f
	}
	return xmlText(h, body, named)
}

// unpackAll decompresses a whole body.
func unpackAll(h http.Header, body []byte, limit int) (plain []byte, _ *Failure) {
	coding := contentCoding(h)
	if coding == "" {
		return body, nil
	}
	u := newUnpacker(coding, func(p []byte) error {
		if len(plain)+len(p) > limit {
			return &Failure{Bomb, fmt.Errorf("an answer of more than %d bytes", limit)}
		}
		plain = append(plain, p...)
		return nil
	})
	if u == nil {
		return nil, &Failure{Coding, fmt.Errorf("Content-Encoding %q, expected none, or one of gzip, deflate and zstd", coding)}
	}
	defer u.stop()
	err := u.write(body)
	if err == nil {
		err = u.close()
	}
	if err != nil {
		return nil, failureOf(err)
	}
	return plain, nil
}

// addXML keeps a part of a document.
func (b *body) addXML(p []byte) error {
	if len(b.xml)+len(p) > xmljson.MaxSize {
		return &Failure{Bomb, fmt.Errorf("a document in XML of more than %d bytes", xmljson.MaxSize)}
	}
	b.xml = append(b.xml, p...)
	return nil
}

// readXML puts the JSON in the document's place.
func (b *body) readXML() error {
	if b.answer.Writes() && len(bytes.TrimSpace(b.xml)) == 0 {
		return &Failure{Missing, errors.New("an empty document")}
	}
	json, err := decodeXML(b.answer, b.w.Header(), b.xml)
	if err != nil {
		return err
	}
	b.isXML, b.xml = false, nil
	b.sure, b.in = true, charset.Reading{}
	b.start = append(b.start[:0], json...)
	return nil
}

// xmlText is a document in UTF-8. Its charset is that of the label, or the one that the document
// says it is in, or the configuration's.
func xmlText(h http.Header, document []byte, named *charset.Charset) ([]byte, *Failure) {
	text, ok := charset.Read(cmp.Or(charsetOf(h), xmljson.Encoding(document)), named).Text(document, false)
	if !ok {
		return nil, &Failure{Charset, fmt.Errorf("%w: a document in XML", charset.ErrText)}
	}
	return text, nil
}

// decodeXML reads a whole document.
func decodeXML(a *answer.Answer, h http.Header, document []byte) ([]byte, error) {
	text, f := xmlText(h, document, a.Shape.Charset)
	if f != nil {
		return nil, f
	}
	shape, _ := a.XML()
	json, err := shape.Decode(text)
	if err != nil { // another outermost element is how such APIs say that they failed
		return nil, &Failure{Syntax, err}
	}
	return json, nil
}

// readsXML reports whether an answer is a document in XML that the resource reads.
func readsXML(a *answer.Answer, media string) bool {
	_, ok := a.XML()
	return ok && xmljson.IsXML(media)
}
