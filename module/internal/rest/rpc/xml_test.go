package rpc

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestXMLRPCValues(t *testing.T) {
	tpl, err := Parse(`[{id},{body}]`, []string{"id"})
	if err != nil || !tpl.Listed() {
		t.Fatal(err)
	}
	got, err := tpl.EncodeXML("a.b", request(`</string>`, "", `{"n":[1,-2147483649,1.5,1e3],"b<":true,"f":false,"z":null,"o":{},"s":"ü]]>&"}`))
	want := `<?xml version="1.0"?><methodCall><methodName>a.b</methodName><params><param><value><string>&#60;/string&#62;</string></value></param>` +
		`<param><value><struct><member><name>n</name><value><array><data><value><int>1</int></value><value><i8>-2147483649</i8></value><value><double>1.5</double></value>` +
		`<value><double>1000</double></value></data></array></value></member><member><name>b&#60;</name><value><boolean>1</boolean></value></member>` +
		`<member><name>f</name><value><boolean>0</boolean></value></member><member><name>z</name><value><nil/></value></member><member><name>o</name><value><struct></struct></value></member>` +
		`<member><name>s</name><value><string>&#252;]]&#62;&#38;</string></value></member></struct></value></param></params></methodCall>`
	if err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	for _, body := range []string{`{"x":9223372036854775808}`, `{"x":1e999}`, `{"x":"\u0001"}`, `{"\u0001":1}`, `{"x":[{"y":"\uffff"}]}`} {
		if got, err := tpl.EncodeXML("a", request("7", "", body)); !errors.Is(err, errValue) {
			t.Errorf("%s: %s %v", body, got, err)
		}
	}
	for template, listed := range map[string]bool{``: true, `[]`: true, `{}`: false, `{body}`: false} {
		if tpl, err := Parse(template, nil); err != nil || tpl.Listed() != listed {
			t.Errorf("%s: %v", template, err)
		}
	}
}

// A megabyte of short numbers with large exponents would become a call of sixty.
func TestXMLRPCCallLengthIsLimited(t *testing.T) {
	tpl, err := Parse(`[{body}]`, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := request("7", "", `{"n":[1e308`+strings.Repeat(",1e308", 1000)+`]}`)
	if got, err := tpl.EncodeXML("a", v); err != nil || len(got) < 300_000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	v.Most = 100_000
	if got, err := tpl.EncodeXML("a", v); !errors.Is(err, ErrLong) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// answered puts a value into an answer.
func answered(value string) string {
	return `<?xml version="1.0"?><methodResponse><params><param>` + value + `</param></params></methodResponse>`
}

func TestXMLRPCAnswers(t *testing.T) {
	for in, want := range map[string]string{
		`<value>a &lt; "ü" </value>`:                                            `"a < \"ü\" "`,
		`<value/>`:                                                              `""`,
		`<value> <int>+07</int> </value>`:                                       `7`,
		`<value><i8>-9223372036854775808</i8></value>`:                          `-9223372036854775808`,
		`<value><boolean> 1 </boolean></value>`:                                 `true`,
		`<value><double>-1.50</double></value>`:                                 `-1.50`,
		`<value><double>12345678901234567890.12</double></value>`:               `12345678901234567890.12`,
		`<value><double>+.5</double></value>`:                                   `0.5`,
		`<value><double>1e300</double></value>`:                                 `1e300`,
		`<value><dateTime.iso8601>19980717T14:08:55</dateTime.iso8601></value>`: `"19980717T14:08:55"`,
		"<value><base64>eW91\n IGNh</base64></value>":                           `"eW91IGNh"`,
		`<value><ex:nil xmlns:ex="urn:x"/></value>`:                             `null`,
		`<value><string><![CDATA[<x>]]></string></value>`:                       `"<x>"`,
		`<value><struct/></value>`:                                              `{}`,
		"<value>\n<struct>\n<member>\n<name>a\"</name>\n<value>x</value>\n</member><!-- no --><member><name>b</name><value><array><data>\n<value><int>1</int></value><value><array><data/></array></value></data></array></value></member></struct></value>": `{"a\"":"x","b":[1,[]]}`,
	} {
		got, fault, err := DecodeXML([]byte(answered(in)))
		if err != nil || fault != nil || string(got) != want || !json.Valid(got) {
			t.Errorf("%s: %s %v %v, want %s", in, got, fault, err, want)
		}
	}
	fault := func(value string) string {
		return "<methodResponse><fault>" + value + "</fault></methodResponse>"
	}
	const told = `<value><struct><member><name>faultCode</name><value><int>4</int></value></member><member><name>faultString</name><value>Too many.</value></member></struct></value>`
	if _, f, err := DecodeXML([]byte(fault(told))); err != nil || f == nil || f.Code != "4" || f.message != "Too many." || f.status() != 422 {
		t.Errorf("%v %v", f, err)
	}
	for value, want := range map[string]Fault{
		`<struct><member><name>faultCode</name><value>17</value></member><member><name>faultString</name><value><int>5</int></value></member></struct>`:          {Code: "17", message: "5"},
		`<struct><member><name>faultCode</name><value>NoPage</value></member><member><name>faultString</name><value><nil/></value></member></struct>`:            {},
		`<struct><member><name>faultCode</name><value><array><data/></array></value></member><member><name>faultString</name><value>m</value></member></struct>`: {message: "m"},
		`<struct/>`: {},
	} {
		if _, f, err := DecodeXML([]byte(fault("<value>" + value + "</value>"))); err != nil || f == nil || f.Code != want.Code || f.message != want.message || !json.Valid(f.Document()) {
			t.Errorf("%s: %v %v", value, f, err)
		}
	}
	for _, document := range []string{
		answered(`<value><double>0x1p4</double></value>`), answered(`<value><double>1_0.5</double></value>`), answered(`<value><double>1e309</double></value>`), answered(`<value><double>.</double></value>`),
		``, `<html/>`, `<methodResponse/>`, `<methodResponse><params/></methodResponse>`, answered(``), answered(`<value>x</value>`)[:90], answered(`<value>x</value><value>y</value>`),
		answered(`<value><int>1.0</int></value>`), answered(`<value><int>9223372036854775808</int></value>`), answered(`<value><int>1<b/></int></value>`), answered(`<value><boolean>2</boolean></value>`),
		answered(`<value><double>NaN</double></value>`), answered(`<value><double>Infinity</double></value>`), answered(`<value><what>1</what></value>`), answered(`<value>x<int>1</int></value>`),
		answered(`<value><int>1</int><int>2</int></value>`), answered(`<value><struct><name>a</name></struct></value>`), answered(`<value><struct><member><value>1</value></member></struct></value>`),
		answered(`<value><struct><member><name>a</name></member></struct></value>`), answered(`<value><array><value>1</value></array></value>`), answered(`x<value>x</value>`),
		answered(`<value>x</value>`) + `<more/>`, answered(`<value>x</value>`) + `x`, `<!DOCTYPE methodResponse [<!ENTITY x "y">]>` + answered(`<value>&x;</value>`), answered(`<value>&x;</value>`),
		answered(strings.Repeat("<value><array><data>", 40) + "<value/>" + strings.Repeat("</data></array></value>", 40)), answered("<value>" + strings.Repeat(" ", 1<<20) + "</value>"),
		fault(`<value>x</value>`), fault(told) + fault(told), "<methodResponse><params><param><value>x</value></param></params>" + "<fault>" + told + "</fault></methodResponse>",
	} {
		if got, f, err := DecodeXML([]byte(document)); !errors.Is(err, errNoAnswer) {
			t.Errorf("%.120s: %s %v %v", document, got, f, err)
		}
	}
}

// FuzzXMLCall: whatever the values are, a call of XML-RPC has the elements of its template.
func FuzzXMLCall(f *testing.F) {
	tpl, err := Parse(`[{id},{query.q}]`, []string{"id"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("7", "x")
	f.Add(`</string></value></param>`, "]]>&<!--")
	f.Fuzz(func(t *testing.T, path, query string) {
		got, err := tpl.EncodeXML("m", request(path, "x"+query, ""))
		if errors.Is(err, errValue) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var elements []string
		for d := xml.NewDecoder(strings.NewReader(string(got))); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s %v", got, err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				elements = append(elements, token.Name.Local)
			case xml.EndElement, xml.CharData, xml.ProcInst:
			default:
				t.Fatalf("%s: %T", got, token)
			}
		}
		if s := strings.Join(elements, " "); s != "methodCall methodName params param value string param value string" {
			t.Fatalf("%s: %s", got, s)
		}
	})
}

// FuzzXMLAnswer: whatever an API answers, a result is JSON.
func FuzzXMLAnswer(f *testing.F) {
	f.Add(answered(`<value><struct><member><name>a</name><value><double>1</double></value></member></struct></value>`))
	f.Add(answered(`<value><array><data><value><i4>1</i4></value><value/></data></array></value>`))
	f.Fuzz(func(t *testing.T, document string) {
		if got, fault, err := DecodeXML([]byte(document)); err == nil && fault == nil && !json.Valid(got) {
			t.Fatalf("%s", got)
		}
	})
}
