package translate

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

func BenchmarkAnItem(b *testing.B) {
	item(b, things, `{"ok":true,"r":{"n":12345,"t":"A title of usual length","body":"`+strings.Repeat("Words and more words. ", 40)+`","state":1,"author":"u-1001","ctime":1704096000}}`)
}

// item is the cost of an answer that fits into what is held.
func item(b *testing.B, r resource.Resource, text string) {
	a := answerTo(b, r, "GET", "/things/1")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		w := New(&sink{http.Header{"Content-Type": {"application/json"}}}, Config{Answer: a})
		if _, err := io.WriteString(writerOnly{w}, text); err != nil {
			b.Fatal(err)
		}
		if f := w.Finish(); f != nil {
			b.Fatal(f)
		}
		w.Release()
	}
}
