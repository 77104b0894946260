package guard

import (
	"net/http"
	"slices"
	"testing"
)

func TestResponsesVaryByToken(t *testing.T) {
	const authorization = "Authorization, Accept-Encoding" // Caddy's encode adds no line of its own then
	for _, c := range []struct{ have, want []string }{
		{nil, []string{authorization}},
		{[]string{"Accept"}, []string{"Accept, " + authorization}},
		{[]string{"Accept-Encoding", "Origin"}, []string{"Accept-Encoding, Origin, Authorization"}}, // nginx 1.22 heeds the last line
		{[]string{"Accept, authorization"}, []string{"Accept, authorization, Accept-Encoding"}},
		{[]string{"*"}, []string{"*"}},
		{[]string{"Accept, *", "Origin"}, []string{"*"}}, // nginx heeds it only if it is alone
	} {
		h := http.Header{"Vary": slices.Clone(c.have)}
		if VaryByToken(h); !slices.Equal(h["Vary"], c.want) {
			t.Errorf("%q: %q, want %q", c.have, h["Vary"], c.want)
		}
	}
}

func TestRefusalsAreKeptFromCaches(t *testing.T) {
	for _, have := range []http.Header{{}, {"Cache-Control": {"public, max-age=60"}, "Vary": {"Origin"}}} {
		h := have.Clone()
		KeepFromCaches(h)
		want := "Authorization, Accept-Encoding"
		if have["Vary"] != nil {
			want = "Origin, " + want
		}
		if !slices.Equal(h["Cache-Control"], []string{"no-store"}) || !slices.Equal(h["Vary"], []string{want}) {
			t.Errorf("%v: %v", have, h)
		}
	}
}
