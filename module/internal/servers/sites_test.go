package servers

import (
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func TestHandlersOfOneSiteAreRecognized(t *testing.T) {
	a, b := new(caddyhttp.Server), new(caddyhttp.Server)
	host := []string{"id.example"}
	for name, c := range map[string]struct {
		one, other  issuerSite
		holds, same bool
	}{
		"another route for the same hosts":        {issuerSite{server: a, hosts: host}, issuerSite{server: a, route: 1, hosts: host}, true, false},
		"the same route for any host":             {issuerSite{server: a, hosts: host}, issuerSite{server: a}, true, false},
		"another route for another host":          {issuerSite{server: a, hosts: host}, issuerSite{server: a, route: 1, hosts: []string{"x.example"}}, false, false},
		"another server with the same hosts":      {issuerSite{server: a, hosts: host}, issuerSite{server: b, hosts: host}, false, true},
		"another server for any host":             {issuerSite{server: a}, issuerSite{server: b}, false, false},
		"another server, written in one place":    {issuerSite{server: a, sources: []string{"f:1"}}, issuerSite{server: b, sources: []string{"f:1"}}, false, true},
		"another server, written somewhere else":  {issuerSite{server: a, hosts: host, sources: []string{"f:1"}}, issuerSite{server: b, hosts: host, sources: []string{"f:9"}}, false, false},
		"another server, of which that's unknown": {issuerSite{server: a, hosts: host, sources: []string{"f:1"}}, issuerSite{server: b, hosts: host}, false, false},
	} {
		if got := c.one.holds(&c.other); got != c.holds {
			t.Errorf("%s: holds is %v", name, got)
		}
		if got := c.one.same(&c.other); got != c.same {
			t.Errorf("%s: same is %v", name, got)
		}
	}
}

func TestOnlyAppendedHeadersCanBeForged(t *testing.T) {
	for name, c := range map[string]struct {
		strict  bool
		headers []string
		want    string
	}{
		"the default":         {false, nil, "X-Forwarded-For"},
		"strict":              {true, nil, ""},
		"one address":         {false, []string{"X-Real-IP"}, ""},
		"a product's own one": {false, []string{"CF-Connecting-IP", "X-Original-Forwarded-For"}, "X-Original-Forwarded-For"},
	} {
		if got := ForgeableAddressHeader(c.strict, c.headers); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
