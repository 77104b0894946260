package pushed

import (
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// FuzzPushedParameters: what is stored of a push is read back as it was sent, as far as it
// is read at all, and no credential is in it.
func FuzzPushedParameters(f *testing.F) {
	f.Add("redirect_uri=https%3A%2F%2Fa.example%2F%3Fa%3D1%26b&state=%26%3D%25&scope=a+b")
	f.Add("resource=a&resource=b&client_secret=s&client_assertion=x&client_id=other")
	f.Add("a=%00&b=%ff;c")
	f.Fuzz(func(t *testing.T, body string) {
		form, err := httpx.ParseForm(body, "resource")
		if err != nil {
			return
		}
		p := pushedParams(form, "web")
		if p.Get("client_id") != "web" || p.Count("client_id") != 1 || p.Has("client_secret") || p.Has("client_assertion") || p.Has("client_assertion_type") {
			t.Fatalf("%q: %v", body, p)
		}
		encoded := p.Encode()
		if len(encoded) > query.MaxSize || len(p) > query.MaxParams {
			return
		}
		back, refused := query.Parse(encoded)
		if refused != nil || !slices.Equal(back, p) {
			t.Fatalf("%q: stored %q, read %v, want %v, %v", body, encoded, back, p, refused)
		}
	})
}
