package httpx

import (
	"net/http"
	"slices"
	"testing"
)

func TestVaryIsOneLine(t *testing.T) {
	for _, c := range []struct {
		have  []string
		add   []string
		cache string // Cache-Control
		want  []string
	}{
		{nil, nil, "max-age=60", nil},
		{nil, []string{"Origin"}, "", []string{"Origin"}},
		{[]string{"Cookie", "Accept, origin"}, []string{"Origin", "Authorization"}, "", []string{"Cookie, Accept, origin, Authorization"}},
		{[]string{"Cookie", "Accept"}, nil, "", []string{"Cookie, Accept"}},
		{[]string{"Cookie"}, nil, "max-age=60", []string{"Cookie, Accept-Encoding"}},
		{[]string{"accept-encoding"}, []string{"Origin"}, "max-age=60", []string{"accept-encoding, Origin"}},
		{[]string{"Cookie"}, nil, "private, max-age=60", []string{"Cookie"}},
		{[]string{"Cookie, *", "Accept"}, []string{"Origin"}, "max-age=60", []string{"*"}},
	} {
		h := http.Header{"Vary": append(make([]string, 0, 9), c.have...)}
		if c.have == nil {
			delete(h, "Vary")
		}
		if c.cache != "" {
			h.Set("Cache-Control", c.cache)
		}
		shared := h["Vary"]
		if c.add == nil {
			JoinVary(h)
		} else {
			AddVary(h, c.add...)
		}
		if !slices.Equal(h["Vary"], c.want) {
			t.Errorf("%q with %q: %q, want %q", c.have, c.add, h["Vary"], c.want)
		}
		if spare := shared[:cap(shared)]; len(spare) > len(c.have) && slices.ContainsFunc(spare[len(c.have):], func(s string) bool { return s != "" }) {
			t.Errorf("%q: the slice that others may share was written to: %q", c.have, spare)
		}
	}
}
