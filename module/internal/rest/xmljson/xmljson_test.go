package xmljson

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

var articles = Shape{Root: "articles", Lists: []string{"article", "article/tags/tag"}}

func TestXMLBecomesJSON(t *testing.T) {
	for _, c := range []struct {
		shape     Shape
		xml, want string
	}{
		{Shape{Root: "a"}, `<?xml version="1.0" encoding="latin1"?><a x="1"><b>t</b><c/><d y="2">u</d><e>1</e><e>2</e></a>`,
			`{"@x":"1","b":"t","c":"","d":{"@y":"2","#text":"u"},"e":["1","2"]}`},
		{Shape{Root: "a"}, `<a/>`, `{}`},
		{Shape{Root: "a"}, `<a>text</a>`, `{"#text":"text"}`},
		{Shape{Root: "a"}, `<x:a xmlns:x="urn:x" xmlns="urn:y"><x:b>&lt;&amp;&#252;"</x:b><![CDATA[<i>]]><!-- no --></x:a>`, `{"b":"<&ü\"","#text":"<i>"}`},
		{Shape{Root: "r", Lists: []string{"a/b", "a/b/c", "ab"}}, `<r><a><b><c>1</c></b><bc>2</bc></a><ab>3</ab><b>4</b><r><a/></r></r>`,
			`{"a":{"b":[{"c":["1"]}],"bc":"2"},"ab":["3"],"b":"4","r":{"a":""}}`},
		{Shape{Root: "r", Lists: []string{"a/b"}}, `<r><a/><a><b/></a><a><a><b/></a></a></r>`, `{"a":[{"b":[]},{"b":[""]},{"a":{"b":""},"b":[]}]}`},
		{articles, `<articles/>`, `{"article":[]}`},
		{articles, `<articles><article><tags/></article></articles>`, `{"article":[{"tags":{"tag":[]}}]}`},
		{articles, `<articles><article><tags><tag>a</tag></tags></article><article/></articles>`, `{"article":[{"tags":{"tag":["a"]}},""]}`},
	} {
		got, err := c.shape.Decode([]byte(c.xml))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s %v, want %s", c.xml, got, err, c.want)
		}
	}
}

func TestInvalidXMLDocumentsAreRefused(t *testing.T) {
	nested := strings.Repeat("<a>", maxDepth)
	for name, text := range map[string]string{
		"nothing": "", "another root": "<b/>", "two roots": "<a/><a/>", "cut": "<a><b>", "not closed": "<a></b>",
		"a document type": "<!DOCTYPE a><a/>", "entities": `<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`, "an entity of nothing": "<a>&x;</a>",
		"an external entity": `<!DOCTYPE a SYSTEM "http://127.0.0.1/x.dtd"><a/>`,
		"too deep":           nested + "<a/>" + strings.Repeat("</a>", maxDepth),
		"too many elements":  "<a>" + strings.Repeat("<b/>", maxElements) + "</a>",
		"too many attributes": "<a " + func() (s string) {
			for i := range maxAttributes + 1 {
				s += "a" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `="" `
			}
			return s
		}() + "/>",
		"too long a name": "<a><" + strings.Repeat("x", maxName+1) + "/></a>",
		"too long":        "<a>" + strings.Repeat("x", MaxSize) + "</a>",
	} {
		if got, err := (Shape{Root: "a"}).Decode([]byte(text)); err == nil {
			t.Errorf("%s: %.100s", name, got)
		}
	}
	if _, err := (Shape{Root: "a"}).Decode([]byte("<b/>")); !errors.Is(err, errRoot) {
		t.Error(err)
	}
	if _, err := (Shape{Root: "a"}).Decode([]byte(nested + strings.Repeat("</a>", maxDepth))); err != nil {
		t.Error(err)
	}
	for _, s := range []Shape{{}, {Root: "a b"}, {Root: "a", Lists: []string{"/b"}}, {Root: "a", Lists: []string{"b", "b"}}} {
		if s.Check() == nil {
			t.Errorf("%v is permitted", s)
		}
	}
}

func written(root string, members map[string]string) (string, string) {
	each := func(yield func(string, json.RawMessage) bool) {
		for name, value := range members {
			if !yield(name, json.RawMessage(value)) {
				return
			}
		}
	}
	document, _, fault := Encode(root, "", each, MaxSize)
	return string(document), fault
}

func TestJSONBecomesXML(t *testing.T) {
	for value, want := range map[string]string{
		`"a<b>&\"'ü\n"`: "<x>a&#60;b&#62;&#38;&#34;&#39;&#252;&#10;</x>", `1.50`: "<x>1.50</x>", `true`: "<x>true</x>", `null`: "<x></x>",
		`[1,"b"]`: "<x>1</x><x>b</x>", `[]`: "", `{"b":1,"@a":"\"","#text":"t"}`: `<x a="&#34;"><b>1</b>t</x>`, `[{"y":[1,2]}]`: "<x><y>1</y><y>2</y></x>",
	} {
		if got, fault := written("r", map[string]string{"x": value}); fault != "" || got != `<?xml version="1.0"?><r>`+want+`</r>` {
			t.Errorf("%s: %s %s", value, got, fault)
		}
	}
	for name, value := range map[string]string{
		"a b": `1`, "": `1`, "ü": `1`, "a:b": `1`, "1": `1`, "c": `"\u0000"`, "d": `[[1]]`, "e": `{"@x":[1]}`, "f": `{"@xmlns":"u"}`, "g": `{"#text":{}}`, "h": `"\uffff"`,
		"i": strings.Repeat(`{"a":`, maxDepth) + "1" + strings.Repeat("}", maxDepth), "a><b": `1`,
	} {
		if got, fault := written("r", map[string]string{name: value}); fault == "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Each element of a list repeats the list's name: 200 KiB in the client's body would become 100 MiB.
func TestDocumentThatIsTooLongIsNotWritten(t *testing.T) {
	const limit = 1 << 20
	long := strings.Repeat("n", maxName)
	list := "[" + strings.Repeat("1,", 200_000) + "1]"
	for name, value := range map[string]string{"a list": list, "a list in a list": `[{"` + long + `":` + list + `}]`} {
		document, member, fault, took := encoded(long, value, limit)
		if document != nil || member+fault != "" || took > 64<<10 {
			t.Errorf("%s: %d bytes of %.20s %s, and %d bytes of memory", name, len(document), member, fault, took)
		}
	}
}

// A body takes the memory of its document, and no more: several clients send large ones at once.
func TestDocumentTakesNoMoreMemoryThanItIsLong(t *testing.T) {
	document, _, fault, took := encoded("nnnnnnnnnnnn", "["+strings.Repeat(`1,"a",true,{"b":null,"@c":"d"},`, 30_000)+"1]", 16<<20)
	if fault != "" || len(document) < 1<<20 || took > uint64(len(document))+64<<10 {
		t.Errorf("%d bytes %s, and %d bytes of memory", len(document), fault, took)
	}
}

// encoded encodes one member. took is how much memory that allocated.
func encoded(name, value string, limit int) (document []byte, member, fault string, took uint64) {
	var before, after runtime.MemStats
	raw := json.RawMessage(value)
	each := func(yield func(string, json.RawMessage) bool) { yield(name, raw) }
	runtime.ReadMemStats(&before)
	document, member, fault = Encode("r", "", each, limit)
	runtime.ReadMemStats(&after)
	return document, member, fault, after.TotalAlloc - before.TotalAlloc
}

func TestMembersAreWrapped(t *testing.T) {
	each := func(yield func(string, json.RawMessage) bool) {
		_ = yield("b", json.RawMessage("[1]")) && yield("@a", json.RawMessage(`"x"`))
	}
	if got, _, fault := Encode("r", "w", each, MaxSize); string(got) != `<?xml version="1.0"?><r><w a="x"><b>1</b></w></r>` {
		t.Errorf("%s %s", got, fault)
	}
	for _, wrap := range []string{"a b", "@a", "#text"} {
		if got, member, fault := Encode("r", wrap, each, MaxSize); got != nil || member != wrap || fault == "" {
			t.Errorf("%s: %s, %s %s", wrap, got, member, fault)
		}
	}
	list := func(yield func(string, json.RawMessage) bool) { yield("b", json.RawMessage("[[1]]")) }
	if _, member, fault := Encode("r", "w", list, MaxSize); member != "b" || fault == "" {
		t.Errorf("the refusal names %q: %s", member, fault)
	}
}

// A value is one text in one element, whatever it is: it never becomes markup.
func FuzzValuesNeverBecomeMarkup(f *testing.F) {
	for _, text := range []string{"", "a", "</x><y>", "]]>", "<!--", "&amp;", "\"' ü\r\n\t", "\x00", "\uffff", "<?x?>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, _ := json.Marshal(text)
		var want string
		_ = json.Unmarshal(value, &want)
		got, fault := written("r", map[string]string{"x": string(value)})
		if fault != "" {
			return
		}
		d := xml.NewDecoder(strings.NewReader(got))
		elements, read := 0, ""
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v in %s", text, err, got)
			}
			switch token := token.(type) {
			case xml.StartElement:
				elements++
			case xml.CharData:
				read += string(token)
			case xml.Comment, xml.Directive:
				t.Fatalf("%q became %s", text, got)
			}
		}
		if elements != 2 || read != want {
			t.Fatalf("%q became %d elements with %q: %s", text, elements, read, got)
		}
	})
}

// Whatever a document is, it becomes valid JSON or is refused.
func FuzzXMLBecomesJSONOrIsRefused(f *testing.F) {
	for _, text := range []string{"<a/>", `<a b="c">d<e/>f</a>`, "<!DOCTYPE a><a/>", "<a>&lt;\xff</a>", "<a><b/><b/></a>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Shape{Root: "a", Lists: []string{"b", "c/d"}}.Decode([]byte(text))
		if err == nil && (!json.Valid(got) || got[0] != '{') {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
