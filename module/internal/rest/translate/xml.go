package translate

import (
	"fmt"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/charset"
)

// document is an answer in XML, which is kept whole and then translated as JSON.
type document struct {
	text []byte
}

func (d *document) add(p []byte) error {
	if len(d.text)+len(p) > xmljson.MaxSize {
		return &Failure{Bomb, fmt.Errorf("a document in XML of more than %d bytes", xmljson.MaxSize)}
	}
	d.text = append(d.text, p...)
	return nil
}

// readXML puts the JSON in the document's place.
func (b *body) readXML() error {
	d := b.xml
	b.xml = nil
	json, err := decodeXML(b.answer, b.w.Header(), d.text)
	if err != nil {
		return err
	}
	b.sure, b.in = true, charset.Reading{}
	b.start.text = append(b.start.text[:0], json...)
	return nil
}

// xmlText is a document in UTF-8. Its charset is that of the label, or the one that the document
// says it is in, or the configuration's.
func xmlText(h http.Header, document []byte, named *charset.Charset) ([]byte, bool) {
	label := charsetOf(h)
	if label == "" {
		label = xmljson.Encoding(document)
	}
	return charset.Read(label, named).Text(document, false)
}

// decodeXML reads a whole document.
func decodeXML(a *answer.Answer, h http.Header, document []byte) ([]byte, error) {
	text, ok := xmlText(h, document, a.Charset())
	if !ok {
		return nil, &Failure{Charset, fmt.Errorf("%w: a document in XML", charset.ErrText)}
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
