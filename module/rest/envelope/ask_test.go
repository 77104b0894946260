package envelope

import (
	"net/http"
	"testing"
)

func TestOnlyDecodableCodingsAreRequested(t *testing.T) {
	conditional := prepared(t, &Config{FailWhen: []FailWhen{{Pointer: "/ok", Op: "==", Values: []string{"false"}, Status: 422}}})
	for asked, want := range map[string]string{
		"": "identity", "br": "identity", "*": "identity", "gzip, br;q=1": "gzip", "br, GZIP;q=0.5,zstd ,, deflate": "GZIP;q=0.5, zstd, deflate", "identity": "identity",
	} {
		h := http.Header{"Accept-Encoding": {asked}}
		if asked == "" {
			h = http.Header{}
		}
		if conditional.Ask(h); len(h["Accept-Encoding"]) != 1 || h.Get("Accept-Encoding") != want {
			t.Errorf("%q: %q, want %s", asked, h["Accept-Encoding"], want)
		}
	}
	h := http.Header{"Accept-Encoding": {"br", "gzip"}}
	conditional.Ask(h)
	if h.Get("Accept-Encoding") != "gzip" || len(h["Accept-Encoding"]) != 1 {
		t.Errorf("two lines: %v", h)
	}
	h = http.Header{"Accept-Encoding": {"br"}}
	if prepared(t, &Config{From: []From{{Kind: JSON}}}).Ask(h); h.Get("Accept-Encoding") != "br" {
		t.Errorf("without conditions: %v", h)
	}
}
