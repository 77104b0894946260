package guard

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestResourceMetadataPathFollowsTheIdentifier(t *testing.T) {
	const issuer = "https://id.example.com"
	for resource, want := range map[string]string{
		"https://api.example.com":         "https://api.example.com/.well-known/oauth-protected-resource",
		"https://api.example.com/":        "https://api.example.com/.well-known/oauth-protected-resource",
		"https://api.example.com/v1/shop": "https://api.example.com/.well-known/oauth-protected-resource/v1/shop",
		"https://api.example.com:8443/a":  "https://api.example.com:8443/.well-known/oauth-protected-resource/a",
		"http://localhost:8080":           "http://localhost:8080/.well-known/oauth-protected-resource",
		"http://api.example.com":          "",
		"urn:example:api":                 "",
		"articles":                        "",
		"https://user@api.example.com":    "",
		"https://api.example.com?x=1":     "",
		"https://api.example.com#x":       "",
		issuer:                            issuer + "/.well-known/oauth-protected-resource",
	} {
		m, ok := NewResourceMetadata(resource, issuer, []string{"write", "read", "read"})
		if m.URL != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", resource, m.URL, want)
		}
	}
	m, _ := NewResourceMetadata("https://api.example.com/v1", issuer, []string{"write", "read", "read"})
	// S17: clients that compare letter for letter, such as go-sdk, expect no slash alone.
	if m, _ := NewResourceMetadata("https://api.example.com/", issuer, nil); !strings.HasPrefix(string(m.JSON), `{"resource":"https://api.example.com","`) {
		t.Errorf("S17 %s", m.JSON)
	}
	if m, _ := NewResourceMetadata("https://api.example.com/v1/", issuer, nil); !strings.HasPrefix(string(m.JSON), `{"resource":"https://api.example.com/v1/","`) {
		t.Errorf("S17 %s", m.JSON)
	}
	const document = `{"resource":"https://api.example.com/v1","authorization_servers":["https://id.example.com"],"scopes_supported":["read","write"],"bearer_methods_supported":["header"]}`
	if string(m.JSON) != document || m.Path != "/.well-known/oauth-protected-resource/v1" || len(m.ETag) != 34 {
		t.Errorf("%s %s %s", m.JSON, m.Path, m.ETag)
	}
}

func TestChallengesNameTheResourceMetadata(t *testing.T) {
	c, err := newChallenges("api", "https://api.example.com/.well-known/oauth-protected-resource")
	if err != nil {
		t.Fatal(err)
	}
	const end = `, resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"`
	if c.missing != `Bearer realm="api"`+end || c.request != `Bearer realm="api", error="invalid_request"`+end {
		t.Errorf("%s\n%s", c.missing, c.request)
	}
	rules, err := new(ruleTree).addRules([]Rule{{Scopes: []string{"a", "b"}, Paths: []string{"/*"}}}, c, nil)
	if err != nil || rules[0].challenge != `Bearer realm="api", error="insufficient_scope", scope="a b"`+end {
		t.Error(rules, err)
	}
	if c, _ := newChallenges("api", ""); c.missing != `Bearer realm="api"` {
		t.Error(c.missing)
	}
}

func TestResourceMetadataNamesTheRequestedResource(t *testing.T) { // S20
	m, _ := NewResourceMetadata("https://api.example.com/v1", "https://id.example.com", []string{"read"})
	for path, want := range map[string]string{
		m.Path: "https://api.example.com/v1", wellKnownResource: "https://api.example.com/v1", wellKnownResource + "/": "https://api.example.com/v1",
		m.Path + "/mcp": "https://api.example.com/v1/mcp", m.Path + "/mcp/": "https://api.example.com/v1/mcp/",
		m.Path + "/%41": "https://api.example.com/v1", m.Path + "/" + strings.Repeat("a", maxNamed): "https://api.example.com/v1",
	} {
		r := httptest.NewRequest("GET", path, nil)
		named := m.For(r)
		if !m.Answers(r) || !strings.HasPrefix(string(named.JSON), `{"resource":"`+want+`","authorization_servers":["https://id.example.com"],"scopes_supported":["read"]`) {
			t.Errorf("%.100s: %s", path, named.JSON)
		}
		if (named.ETag == m.ETag) != (want == "https://api.example.com/v1") {
			t.Errorf("%.100s: ETag %s", path, named.ETag)
		}
	}
	if root, _ := NewResourceMetadata("https://api.example.com/", "https://id.example.com", nil); !strings.HasPrefix(string(root.JSON), `{"resource":"https://api.example.com",`) {
		t.Errorf("%s", root.JSON)
	}
}

func TestResourceMetadataIsServedAtItsPaths(t *testing.T) {
	m, _ := NewResourceMetadata("https://api.example.com/v1", "https://id.example.com", nil)
	for target, want := range map[string]bool{
		"GET " + m.Path: true, "HEAD " + m.Path: true, "GET " + m.Path + "?x=1": true,
		"POST " + m.Path: false, "OPTIONS " + m.Path: false, "GET /v1": false, "GET /": false,
		// S20: where clients ask that know one path of the API, or none.
		"GET " + m.Path + "/": true, "GET " + m.Path + "/mcp": true, "GET " + wellKnownResource: true, "HEAD " + wellKnownResource + "/": true,
		"GET " + m.Path + "x": false, "GET " + wellKnownResource + "/v2": false, "GET " + wellKnownResource + "x": false,
		"GET " + m.Path + "/../../../x": false, "GET " + m.Path + "/%2e%2e/x": false, "GET " + m.Path + "//x": false, "GET /x" + m.Path: false,
		"GET " + wellKnownResource + "/V1": false,
	} {
		method, path, _ := strings.Cut(target, " ")
		if got := m.Answers(httptest.NewRequest(method, path, nil)); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.URL.Path = ""
	if (&ResourceMetadata{}).Answers(r) {
		t.Error("no document answers a request without a path")
	}
}
