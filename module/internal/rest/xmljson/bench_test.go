package xmljson

import (
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
