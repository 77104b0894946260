package pathpattern

import (
	"net/url"
	"testing"
)

func TestBlanksInQueriesArePercentEncoded(t *testing.T) {
	if got := EscapeQuery("a b+c&ü"); got != "a%20b%2Bc%26%C3%BC" {
		t.Error(got)
	}
	if got := EncodeQuery(url.Values{"b c": {"x+y z", ""}, "a": {"1"}}); got != "a=1&b%20c=x%2By%20z&b%20c=" {
		t.Error(got)
	}
}
