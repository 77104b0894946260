package audience

import (
	"slices"
	"testing"
)

func TestRootAudienceMatchesWithAndWithoutSlash(t *testing.T) { // S17
	all := []string{"https://a.example", "https://b.example/", "https://c.example/mcp", "urn:api:1", "https://d.example", "https://d.example/"}
	for asked, want := range map[string]string{
		"https://a.example": "https://a.example", "https://a.example/": "https://a.example",
		"https://b.example": "https://b.example/", "https://b.example/": "https://b.example/",
		"https://c.example/mcp": "https://c.example/mcp", "https://c.example/mcp/": "https://c.example/mcp", "https://c.example": "",
		"urn:api:1": "urn:api:1", "urn:api:1/": "", "https://a.example//": "", "https://a.example/?": "", "https://a.example?x/": "",
		"http://a.example/": "", "https://A.example/": "", "https://a.example:443/": "", "https:///": "", "https://": "",
		"https://d.example": "https://d.example", "https://d.example/": "https://d.example/", "https://u@a.example/": "",
		// S20: an address below is the resource's.
		"https://a.example/mcp": "https://a.example", "https://a.example/x/y/": "https://a.example", "https://c.example/mcp/v1": "https://c.example/mcp", "https://c.example/mcpx": "",
		"https://a.example/x//y": "", "https://a.example/../x": "", "https://a.example/x/..": "", "https://a.example/%2e%2e": "", "https://a.example/a%2fb": "", "https://a.example/x?y": "",
		"https://a.example.evil/x": "", "https://a.example@evil/x": "", "urn:api:1/x": "", "http://a.example/x": "", "https://c.example/other": "",
	} {
		found, ok := findConfigured([]string{asked}, all)
		if ok != (want != "") || ok && !slices.Equal(found, []string{want}) {
			t.Errorf("%s: %v %v, want %q", asked, found, ok, want)
		}
	}
	if found, ok := findConfigured([]string{"https://a.example/", "https://x.example"}, all); ok || !slices.Equal(found, []string{"https://a.example"}) {
		t.Errorf("%v %v", found, ok)
	}
}
