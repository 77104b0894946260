package rpc

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
)

// Listed reports whether the parameters are a list, as all of XML-RPC are, or there are none.
func (t *Template) Listed() bool {
	return t.root == nil || t.root.ref == nil && t.root.literal == nil && !t.root.object
}

// DecodeXML reads an answer of XML-RPC in UTF-8: its result, or a fault. Dates and base64 are texts.
func DecodeXML(document []byte) (result json.RawMessage, fault *Fault, err error) {
	r, err := xmljson.NewReader(document)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	x := &xmlReader{r: r}
	result, failed := x.response()
	if x.err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errNoAnswer, x.err)
	}
	if !failed {
		return result, nil, nil
	}
	var told map[string]json.RawMessage
	if json.Unmarshal(result, &told) != nil || told == nil {
		return nil, nil, fmt.Errorf("%w: its fault has no faultString", errNoAnswer)
	}
	f := &Fault{Code: codeOf(told["faultCode"]), message: scalarText(told["faultString"])}
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
	if got := x.next(nil); got != name {
		x.fail("<%.40s>, expected <%s>", got, name)
	}
}

func (x *xmlReader) end() {
	if got := x.next(nil); got != "" {
		x.fail("<%.40s>, expected the end of the element", got)
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
		x.next(nil)
		x.fail("something follows the answer")
		if errors.Is(x.err, io.EOF) {
			x.err = nil
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
		return splice.Quote(text.String())
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
		return splice.Quote(text)
	case "base64":
		return splice.Quote(strings.Join(strings.Fields(text), ""))
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
			b = append(append(b, splice.Quote(x.text())...), ':')
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
