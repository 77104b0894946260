package explain

import (
	"strings"
	"testing"
)

func explained(t *testing.T, server, address string) ([]Explanation, error) {
	t.Helper()
	c, err := ReadConfiguration([]byte(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],` + server + `}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewQuestion("GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Request(c, q)
}

// Other modules may give our field names other types: such a handler is passed.
func TestExplainSkipsHandlersWithOtherFieldTypes(t *testing.T) {
	all, err := explained(t, `"routes":[{"handle":[{"handler":"other","routes":7,"name":{}},{"handler":"gatehouse_guard"},{"handler":"reverse_proxy"}]}]`, "/x")
	if err != nil || len(all) != 1 || len(all[0].Guards) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestMutuallyRecursiveRoutesAreAnError(t *testing.T) {
	_, err := explained(t, `"named_routes":{"loop":{"handle":[{"handler":"invoke","name":"loop"}]}},"routes":[{"handle":[{"handler":"gatehouse_guard","shadow":true},{"handler":"invoke","name":"loop"}]}]`, "/x")
	if err == nil || !strings.Contains(err.Error(), "loop") {
		t.Errorf("%v, want an error that names the route", err)
	}
}

// Whether a path is oauth_server's own is decided as the server decides it.
func TestOAuthServerAnswersOnlyItsOwnPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/.well-known/oauth-authorization-server": "oauth_server", "/token": "oauth_server", "/.well-known/other/id": "static_response", "/.well-known/oauth-authorization-server/id": "static_response",
	} {
		all, err := explained(t, `"routes":[{"handle":[{"handler":"gatehouse_server"},{"handler":"static_response"}]}]`, "https://id.example"+path)
		if err != nil || len(all) != 1 || all[0].Then != want {
			t.Errorf("%s: %+v, %v, want %s", path, all, err, want)
		}
	}
}
