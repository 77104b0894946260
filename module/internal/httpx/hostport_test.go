package httpx

import (
	"net/url"
	"testing"
)

func TestUpstreamAddressMatchesWithoutDefaultPort(t *testing.T) {
	for _, c := range []struct {
		location, hostport string
		want               bool
	}{
		{"http://legacy:8080/x", "legacy:8080", true}, {"http://LEGACY:8080/x", "legacy:8080", true}, {"http://legacy/x", "legacy:80", true},
		{"//legacy/x", "legacy:80", true}, {"https://legacy/x", "legacy:443", true}, {"http://[fd00::1]/x", "[fd00::1]:80", true},
		{"https://legacy/x", "legacy:80", false}, {"http://legacy/x", "legacy:8080", false}, {"http://legacy:80/x", "legacy:8080", false},
		{"http://elsewhere/x", "legacy:80", false}, {"http://legacy/x", "", false}, {"ftp://legacy/x", "legacy:80", false},
	} {
		to, err := url.Parse(c.location)
		if err != nil {
			t.Fatal(err)
		}
		if got := HasHostPort(to, c.hostport); got != c.want {
			t.Errorf("%s of %s: %v", c.location, c.hostport, got)
		}
	}
}
