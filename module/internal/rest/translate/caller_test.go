package translate

import (
	"bytes"
	"io"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/klauspost/compress/zstd"
)

func TestAnswerWithCallerLinksVariesByAuthorization(t *testing.T) {
	table, err := routes.New([]resource.Resource{things})
	if err != nil {
		t.Fatal(err)
	}
	m, _, _ := table.Match("GET", "/things/1")
	up, _ := m.Request(mapping.Asked{})
	g := through(Config{Answer: m.Answer(up, answer.Caller{Allowed: func(string, string) bool { return true }})}, 304, nil, "", 0)
	if got := g.Header().Get("Vary"); got != "Authorization" {
		t.Errorf("304: Vary %q", got)
	}
	for _, allowed := range []func(string, string) bool{nil, func(string, string) bool { return true }} {
		g := through(Config{Answer: m.Answer(up, answer.Caller{Allowed: allowed})}, 200, map[string]string{"Content-Type": "application/json"}, `{"r":{"n":1}}`, 0)
		want := ""
		if allowed != nil {
			want = "Authorization"
		}
		if g.failure != nil || g.Header().Get("Vary") != want {
			t.Errorf("%v: Vary %q, want %q", g.failure, g.Header().Get("Vary"), want)
		}
	}
}

// A frame says how much memory is needed to read it, before there is any content.
func TestZstdWindowSizeIsLimited(t *testing.T) {
	for size, want := range map[int]Kind{8 << 20: "", 64 << 20: Coding} {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b, zstd.WithWindowSize(size))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{`{"r":`, `{"n":1}}`} {
			if _, err := io.WriteString(z, part); err != nil || z.Flush() != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		g := through(Config{Answer: answerTo(t, things, "GET", "/things/1")}, 200, map[string]string{"Content-Type": "application/json", "Content-Encoding": "zstd"}, b.String(), 0)
		var got Kind
		if g.failure != nil {
			got = g.failure.Kind
		}
		if got != want {
			t.Errorf("a window of %d: %v, want %q", size, g.failure, want)
		}
	}
}
