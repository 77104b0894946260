package translate

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/list"
)

// sink is a client that takes everything.
type sink struct{ h http.Header }

func (s *sink) Header() http.Header         { return s.h }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }

func BenchmarkAListOfAHundredItems(b *testing.B) { translated(b, 100) }

func BenchmarkAListThatStreams(b *testing.B) { translated(b, 20_000) }

func translated(b *testing.B, items int) {
	item := `{"n":12345,"t":"A title of usual length, part 7","body":"` + strings.Repeat("Words and more words. ", 8) + `","state":1,"author":"u-1001","ctime":1704096000}`
	text := `{"ok":true,"r":{"total":"312","list":[` + strings.Repeat(item+",", items-1) + item + `]}}`
	many := things
	many.List = &list.Config{Items: "/r/list", Total: "/r/total", Max: 100_000}
	a := answerTo(b, many, "GET", "/things?limit="+strconv.Itoa(items))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		w := New(&sink{http.Header{"Content-Type": {"application/json"}}}, Config{Answer: a})
		if _, err := io.CopyBuffer(writerOnly{w}, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, 32<<10)); err != nil {
			b.Fatal(err)
		}
		if f := w.Finish(); f != nil {
			b.Fatal(f)
		}
		w.Release()
	}
}
