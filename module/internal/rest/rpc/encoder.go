package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
)

// errValue is the error for a value that XML-RPC does not have: a control character, or a number
// beyond 64 bits.
var errValue = errors.New("a value that cannot be sent")

// ErrLong is the error for a call of more bytes than Values.Most.
var ErrLong = errors.New("the call is too long")

// encoder writes the values of a call, as JSON or as XML-RPC does.
type encoder struct {
	b    bytes.Buffer
	xml  bool
	most int // bytes of XML; 0: any number
}

// put writes what stands around values.
func (e *encoder) put(inJSON, inXML string) {
	if e.xml {
		e.b.WriteString(inXML)
	} else {
		e.b.WriteString(inJSON)
	}
}

// separate writes the comma between two values of JSON.
func (e *encoder) separate() {
	if b := e.b.Bytes(); !e.xml && len(b) > 0 && !slices.Contains([]byte("[{:"), b[len(b)-1]) {
		e.b.WriteByte(',')
	}
}

func (e *encoder) open(object bool) {
	e.separate()
	if object {
		e.put("{", "<value><struct>")
	} else {
		e.put("[", "<value><array><data>")
	}
}

func (e *encoder) end(object bool) {
	if object {
		e.put("}", "</struct></value>")
	} else {
		e.put("]", "</data></array></value>")
	}
}

// member writes a member of an object, whose value is written by value.
func (e *encoder) member(name string, value func() error) error {
	text, ok := xmljson.Text(name)
	if e.xml && !ok {
		return errValue
	}
	e.separate()
	e.put(string(splice.Quote(name))+":", "<member><name>"+text+"</name>")
	if err := value(); err != nil {
		return err
	}
	e.put("", "</member>")
	return nil
}

// mark writes the mark of a configured value.
func (e *encoder) mark(mark string) {
	e.separate()
	e.put(mark, "<value>"+mark+"</value>")
}

// value writes a value that is valid JSON.
func (e *encoder) value(value json.RawMessage) error {
	if !e.xml {
		e.separate()
		e.b.Write(value)
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	return e.convert(d)
}

// convert writes the next value of valid JSON as XML.
func (e *encoder) convert(d *json.Decoder) error {
	token, _ := d.Token() // the text is valid
	scalar := "<nil/>"
	switch v := token.(type) {
	case json.Delim:
		return e.convertAll(d, v == '{')
	case string:
		text, ok := xmljson.Text(v)
		if !ok {
			return errValue
		}
		scalar = "<string>" + text + "</string>"
	case json.Number:
		var err error
		if scalar, err = numberOf(v.String()); err != nil {
			return err
		}
	case bool:
		scalar = "<boolean>" + map[bool]string{true: "1", false: "0"}[v] + "</boolean>"
	}
	e.b.WriteString("<value>" + scalar + "</value>")
	return e.checkLength()
}

func (e *encoder) checkLength() error {
	if e.most > 0 && e.b.Len() > e.most {
		return ErrLong
	}
	return nil
}

// convertAll writes the elements of a list or the members of an object.
func (e *encoder) convertAll(d *json.Decoder, object bool) error {
	e.open(object)
	next := func() error { return e.convert(d) }
	for d.More() {
		write := next
		if object {
			token, _ := d.Token()
			name, _ := token.(string)
			write = func() error { return e.member(name, next) }
		}
		if err := write(); err != nil {
			return err
		}
	}
	_, _ = d.Token()
	e.end(object)
	return e.checkLength()
}

// numberOf is a number of JSON: int with 32 bits, i8 with 64, double with a fraction or exponent.
func numberOf(text string) (string, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return "", errValue
		}
		return "<double>" + strconv.FormatFloat(f, 'f', -1, 64) + "</double>", nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return "", errValue
	case n < math.MinInt32 || n > math.MaxInt32:
		return "<i8>" + strconv.FormatInt(n, 10) + "</i8>", nil
	}
	return "<int>" + strconv.FormatInt(n, 10) + "</int>", nil
}
