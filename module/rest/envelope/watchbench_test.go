package envelope

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkAskedSuccess is a small success that is asked, beside BenchmarkSuccess.
func BenchmarkAskedSuccess(b *testing.B) {
	c := oldAPI()
	if err := c.Prepare(); err != nil {
		b.Fatal(err)
	}
	run(b, c, []byte(`{"success":true,"code":0,"result":{"aid":1001,"subject":"The history of the town library"}}`))
}

// BenchmarkAskedList is one of 256 KiB whose condition stands at its end.
func BenchmarkAskedList(b *testing.B) {
	c := oldAPI()
	if err := c.Prepare(); err != nil {
		b.Fatal(err)
	}
	run(b, c, []byte(list(256<<10, `,"success":true,"code":0`)))
}

func run(b *testing.B, c *Config, body []byte) {
	r := httptest.NewRequest("GET", "/", nil)
	var inner http.ResponseWriter = discard{http.Header{"Content-Type": {"application/json"}}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(inner, r, c)
		for at := 0; at < len(body); at += 32 << 10 {
			if _, err := w.Write(body[at:min(len(body), at+32<<10)]); err != nil {
				b.Fatal(err)
			}
		}
		w.Finish()
	}
}
