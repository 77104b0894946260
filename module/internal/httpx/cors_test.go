package httpx

import (
	"net/http"
	"strings"
	"testing"
)

func TestRequestedHeadersAreEchoedOnlyIfValidNames(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "x-a, x-b": "x-a, x-b", "x-a:b": "", "x a": "", "x-a,": "", "*": "*", "x-\xff": "",
		strings.Repeat("x", 1024): strings.Repeat("x", 1024), strings.Repeat("x", 1025): "",
	} {
		if got := RequestedHeaders(http.Header{"Access-Control-Request-Headers": {list}}); got != want {
			t.Errorf("%q: %q", list, got)
		}
	}
	if got := RequestedHeaders(http.Header{}); got != "" {
		t.Errorf("without the field: %q", got)
	}
}
