package guard

import (
	"net/http"
	"slices"
	"testing"
)

func TestStorableResponsesVaryByToken(t *testing.T) {
	const authorization = "Authorization, Accept-Encoding" // Caddy's encode adds no line of its own then
	for _, c := range []struct {
		header http.Header
		want   []string
	}{
		{http.Header{}, nil},
		{http.Header{"Vary": {"Accept"}}, []string{"Accept"}},
		{http.Header{"Cache-Control": {"public, max-age=60"}}, []string{authorization}},
		{http.Header{"Cache-Control": {"max-age=60"}}, []string{authorization}}, // nginx
		{http.Header{"Cache-Control": {"must-revalidate"}}, []string{authorization}},
		{http.Header{"Expires": {"Thu, 01 Dec 2033 16:00:00 GMT"}}, []string{authorization}},
		{http.Header{"Cache-Control": {"max-age=60"}, "Vary": {"Accept"}}, []string{"Accept, " + authorization}},
		{http.Header{"Cache-Control": {"max-age=60"}, "Vary": {"Accept-Encoding", "Origin"}}, []string{"Accept-Encoding, Origin, Authorization"}}, // nginx 1.22 heeds the last line
		{http.Header{"Cache-Control": {"max-age=60"}, "Vary": {"Accept, authorization"}}, []string{"Accept, authorization, Accept-Encoding"}},
		{http.Header{"Cache-Control": {"max-age=60"}, "Vary": {"*"}}, []string{"*"}},
		{http.Header{"Cache-Control": {"max-age=60"}, "Vary": {"Accept, *", "Origin"}}, []string{"*"}}, // nginx heeds it only if it is alone
		{http.Header{"Cache-Control": {`private="X-Own", max-age=60`}}, []string{authorization}},
		{http.Header{"Cache-Control": {"max-age=60", "Private"}}, nil},
		{http.Header{"Cache-Control": {"no-cache, no-store"}, "Expires": {"0"}}, nil},
		{http.Header{"Cache-Control": {"private"}, "Cdn-Cache-Control": {"max-age=60"}}, []string{authorization}},
		{http.Header{"Cache-Control": {"private"}, "Surrogate-Control": {"max-age=60"}}, []string{authorization}},
		{http.Header{"X-Accel-Expires": {"60"}}, []string{authorization}},
		{http.Header{"Cache-Control": {"private"}, "Cloudflare-Cdn-Cache-Control": {"max-age=60"}}, []string{authorization}},
	} {
		before := c.header.Clone()
		if VaryByToken(c.header); !slices.Equal(c.header["Vary"], c.want) {
			t.Errorf("%v: Vary %q, want %q", before, c.header["Vary"], c.want)
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
