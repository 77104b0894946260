package xmljson

import (
	"encoding/json"
	"strings"
	"testing"
)

// BenchmarkDecode is a list of 1,000 articles, nested as such documents are.
func BenchmarkDecode(b *testing.B) {
	document := []byte("<articles>" + strings.Repeat("<article><id>17</id><title>Of rooks</title><author><name>Ann</name></author><tags><tag>a</tag><tag>b</tag></tags></article>", 1000) + "</articles>")
	b.SetBytes(int64(len(document)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := articles.Decode(document); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncode is bodies of 1 MB: a list of numbers, whose name is written for each, and one of articles.
func BenchmarkEncode(b *testing.B) {
	for name, value := range map[string]string{
		"Numbers":  "[" + strings.Repeat("1,", 500_000) + "1]",
		"Articles": "[" + strings.Repeat(`{"id":17,"title":"Of rooks & kings","author":{"name":"Ann"},"tags":["a","b"]},`, 12_000) + "{}]",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for b.Loop() {
				each := func(yield func(string, json.RawMessage) bool) { yield("nnnnnnnnnnnn", json.RawMessage(value)) }
				if document, _, _ := Encode("r", "", each, 32<<20); document == nil {
					b.Fatal("no document")
				}
			}
		})
	}
}
