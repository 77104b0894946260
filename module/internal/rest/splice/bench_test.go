package splice

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"
)

// articles is a list as old APIs send it.
func articles(n int, indent string) []byte {
	list := make([]map[string]any, n)
	for i := range list {
		list[i] = map[string]any{
			"aid": 1001 + i, "subject": "The history of the town library, part " + strconv.Itoa(i), "state": i % 2, "ctime": 1704096000 + 3600*i,
			"body": "Everything there is to say: the history of the town library, \"part\" " + strconv.Itoa(i) + ".\n", "tags": "history,town", "author": "u-1001",
			"flags": []bool{true, false}, "more": map[string]any{"views": 1234.5, "best": nil},
		}
	}
	text, err := json.MarshalIndent(map[string]any{"result": map[string]any{"list": list, "total": n}, "success": true}, "", indent)
	if indent == "" {
		compact := new(bytes.Buffer)
		err = json.Compact(compact, text)
		text = compact.Bytes()
	}
	if err != nil {
		panic(err)
	}
	return text
}

func translated(t testing.TB) *Plan {
	return plan(t, Config{
		Root: Pointer{"result", "list"}, List: true, Capture: []Pointer{{"result", "total"}, {"success"}},
		Rename: map[string]string{"aid": "id", "subject": "title", "ctime": "created_at"}, Drop: []string{"author"},
		Values: map[string]map[string]string{"state": {"0": "draft", "1": "published"}}, ID: Pointer{"aid"},
		Append: func(dst []byte, id Scalar) []byte {
			dst = append(dst, `"links":[{"rel":"self","method":"GET","href":"/articles/`...)
			return append(append(dst, id.Text...), `"}]`...)
		},
	})
}

func run(b *testing.B, p *Plan, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		e := p.New(io.Discard)
		for at := 0; at < len(text); at += 32 << 10 {
			if _, err := e.Write(text[at:min(len(text), at+32<<10)]); err != nil {
				b.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
		e.Release()
	}
}

func BenchmarkUnedited(b *testing.B)         { run(b, plan(b, Config{}), articles(2000, "")) }
func BenchmarkUneditedIndented(b *testing.B) { run(b, plan(b, Config{}), articles(2000, "    ")) }
func BenchmarkTranslated(b *testing.B)       { run(b, translated(b), articles(2000, "")) }
func BenchmarkTranslated100(b *testing.B)    { run(b, translated(b), articles(100, "")) }

func BenchmarkLongStrings(b *testing.B) {
	run(b, plan(b, Config{}), []byte(`["`+strings.Repeat("Everything there is to say. ", 40_000)+`"]`))
}

func BenchmarkEscapes(b *testing.B) {
	run(b, plan(b, Config{}), []byte(`["`+strings.Repeat(`\u6587\u7ae0\n`, 70_000)+`"]`))
}

func BenchmarkNumbers(b *testing.B) {
	run(b, plan(b, Config{}), []byte(`[0`+strings.Repeat(`,12345,-0.25`, 80_000)+`]`))
}

// BenchmarkValid is what encoding/json needs to look at the same bytes.
func BenchmarkValid(b *testing.B) {
	text := articles(2000, "")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if !json.Valid(text) {
			b.Fatal()
		}
	}
}
