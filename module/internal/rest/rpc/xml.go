package rpc

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
)

// ErrValue is the error for a value that XML-RPC does not have: a control character, or a number
// beyond 64 bits.
var ErrValue = errors.New("a value that cannot be sent")

// Listed reports whether the parameters are a list, as all of XML-RPC are, or there are none.
func (t *Template) Listed() bool {
	return t.root == nil || t.root.ref == nil && t.root.literal == nil && !t.root.object
}

// EncodeXML writes a call of XML-RPC. The parameters are Listed.
func (t *Template) EncodeXML(method string, v Values) ([]byte, error) {
	x := new(xmlCall)
	x.b.WriteString(`<?xml version="1.0"?><methodCall><methodName>` + method + `</methodName><params>`) // CheckMethod permits no markup
	if t.root != nil {
		for i := range t.root.values {
			x.b.WriteString("<param>")
			if err := t.root.values[i].write(x, v); err != nil {
				return nil, err
			}
			x.b.WriteString("</param>")
		}
	}
	x.b.WriteString(`</params></methodCall>`)
	return x.b.Bytes(), nil
}

// xmlCall writes the values of a call as XML-RPC does.
type xmlCall struct{ b bytes.Buffer }

func (x *xmlCall) open(object bool) {
	if object {
		x.b.WriteString("<value><struct>")
	} else {
		x.b.WriteString("<value><array><data>")
	}
}

func (x *xmlCall) end(object bool) {
	if object {
		x.b.WriteString("</struct></value>")
	} else {
		x.b.WriteString("</data></array></value>")
	}
}

func (x *xmlCall) name(name string) error {
	text, ok := xmljson.Text(name)
	if !ok {
		return ErrValue
	}
	x.b.WriteString("<member><name>" + text + "</name>")
	return nil
}

func (x *xmlCall) endName() { x.b.WriteString("</member>") }

func (x *xmlCall) mark(mark []byte) {
	x.b.WriteString("<value>")
	x.b.Write(mark)
	x.b.WriteString("</value>")
}

func (x *xmlCall) value(value json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	return x.next(d)
}

// next writes the next value of valid JSON.
func (x *xmlCall) next(d *json.Decoder) error {
	token, _ := d.Token() // the text is valid
	scalar := ""
	switch v := token.(type) {
	case json.Delim:
		return x.all(d, v == '{')
	case string:
		text, ok := xmljson.Text(v)
		if !ok {
			return ErrValue
		}
		scalar = "<string>" + text + "</string>"
	case json.Number:
		text, err := numberOf(v.String())
		if err != nil {
			return err
		}
		scalar = text
	case bool:
		scalar = "<boolean>" + map[bool]string{true: "1", false: "0"}[v] + "</boolean>"
	default:
		scalar = "<nil/>"
	}
	x.b.WriteString("<value>" + scalar + "</value>")
	return nil
}

func (x *xmlCall) all(d *json.Decoder, object bool) error {
	x.open(object)
	for d.More() {
		if object {
			token, _ := d.Token()
			name, _ := token.(string)
			if err := x.name(name); err != nil {
				return err
			}
		}
		if err := x.next(d); err != nil {
			return err
		}
		if object {
			x.endName()
		}
	}
	_, _ = d.Token()
	x.end(object)
	return nil
}

// numberOf is a number of JSON: int with 32 bits, i8 with 64, double with a fraction or exponent.
func numberOf(text string) (string, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return "", ErrValue
		}
		return "<double>" + strconv.FormatFloat(f, 'f', -1, 64) + "</double>", nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return "", ErrValue
	case n < math.MinInt32 || n > math.MaxInt32:
		return "<i8>" + strconv.FormatInt(n, 10) + "</i8>", nil
	}
	return "<int>" + strconv.FormatInt(n, 10) + "</int>", nil
}

// DecodeXML reads an answer of XML-RPC in UTF-8: its result, or a fault. Dates and base64 are texts.
func DecodeXML(document []byte) (result json.RawMessage, fault *Fault, err error) {
	r, err := xmljson.NewReader(document)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	x := &xmlReader{r: r}
	result, failed := x.response()
	if x.err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNoAnswer, x.err)
	}
	if !failed {
		return result, nil, nil
	}
	var told map[string]json.RawMessage
	if json.Unmarshal(result, &told) != nil || told == nil {
		return nil, nil, fmt.Errorf("%w: its fault has no faultString", ErrNoAnswer)
	}
	f := &Fault{Code: codeOf(told["faultCode"]), Message: scalarText(told["faultString"])}
	return nil, f.cut(), nil
}

// decimal is a number as XML-RPC servers write it. Go knows others, such as 0x1p4 and Inf.
var decimal = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// xmlReader reads an answer. After an error it reads nothing more.
type xmlReader struct {
	r   *xmljson.Reader
	err error
}

// next is the next element that begins, its name, or "" for the end of the one around it. Text
// between elements may only be white space; text has what stood there.
func (x *xmlReader) next(text *strings.Builder) string {
	for x.err == nil {
		var t xml.Token
		if t, x.err = x.r.Token(); x.err != nil {
			break
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t.Name.Local
		case xml.EndElement:
			return ""
		case xml.CharData:
			if text != nil {
				text.Write(t)
			} else if len(bytes.TrimSpace(t)) > 0 {
				x.err = errors.New("a text stands between elements")
			}
		}
	}
	return ""
}

func (x *xmlReader) begin(name string) {
	if got := x.next(nil); x.err == nil && got != name {
		x.err = fmt.Errorf("<%.40s>, expected <%s>", got, name)
	}
}

func (x *xmlReader) end() {
	if got := x.next(nil); x.err == nil && got != "" {
		x.err = fmt.Errorf("<%.40s>, expected the end of the element", got)
	}
}

func (x *xmlReader) response() (value json.RawMessage, failed bool) {
	x.begin("methodResponse")
	switch got := x.next(nil); got {
	case "params":
		x.begin("param")
		x.begin("value")
		value = x.value()
		x.end()
	case "fault":
		failed = true
		x.begin("value")
		value = x.value()
	default:
		x.fail("<%.40s>, expected <params> or <fault>", got)
	}
	x.end()
	x.end()
	if x.err == nil {
		if x.next(nil); errors.Is(x.err, io.EOF) {
			x.err = nil
		} else if x.err == nil {
			x.err = errors.New("something follows the answer")
		}
	}
	return value, failed
}

func (x *xmlReader) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf(format, args...)
	}
}

// value reads a value to its end. Without a type it is a text.
func (x *xmlReader) value() json.RawMessage {
	var text strings.Builder
	kind := x.next(&text)
	if x.err != nil || kind == "" {
		return quote(text.String())
	}
	if strings.TrimSpace(text.String()) != "" {
		x.fail("a text stands in front of <%.40s>", kind)
	}
	var value json.RawMessage
	switch kind {
	case "struct", "array":
		value = x.all(kind == "struct")
	default:
		value = x.scalar(kind, x.text())
	}
	x.end()
	return value
}

// text is the content of an element that has no others.
func (x *xmlReader) text() string {
	var text strings.Builder
	if got := x.next(&text); got != "" {
		x.fail("<%.40s>, expected a text", got)
	}
	return text.String()
}

func (x *xmlReader) scalar(kind, text string) json.RawMessage {
	trimmed := strings.TrimSpace(text)
	switch kind {
	case "string", "dateTime.iso8601":
		return quote(text)
	case "base64":
		return quote(strings.Join(strings.Fields(text), ""))
	case "nil":
		return json.RawMessage("null")
	case "int", "i1", "i2", "i4", "i8":
		if n, err := strconv.ParseInt(trimmed, 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10)
		}
	case "boolean":
		if trimmed == "0" || trimmed == "1" {
			return strconv.AppendBool(nil, trimmed == "1")
		}
	case "double":
		f, err := strconv.ParseFloat(trimmed, 64)
		switch {
		case err != nil || !decimal.MatchString(trimmed):
		case json.Valid([]byte(trimmed)):
			return json.RawMessage(trimmed) // with all its digits
		default: // such as +1.5, 1. and .5
			return strconv.AppendFloat(nil, f, 'g', -1, 64)
		}
	}
	x.fail("<%.40s> with a value that it cannot have, or of an unknown type", kind)
	return nil
}

// all reads what is in a struct or an array, to its end.
func (x *xmlReader) all(object bool) json.RawMessage {
	b, end, each := []byte{'['}, byte(']'), "value"
	if object {
		b, end, each = []byte{'{'}, '}', "member"
	} else {
		x.begin("data")
	}
	for x.err == nil {
		got := x.next(nil)
		if got == "" {
			break
		}
		if got != each {
			x.fail("<%.40s>, expected <%s>", got, each)
			break
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		if object {
			x.begin("name")
			b = append(append(b, quote(x.text())...), ':')
			x.begin("value")
		}
		b = append(b, x.value()...)
		if object {
			x.end()
		}
	}
	if !object {
		x.end()
	}
	return append(b, end)
}
