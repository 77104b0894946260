package restapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/examples/legacy/api"
	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func init() { harness.SuiteProxy = harness.OwnProxy }

const site = "{\n" + harness.Quiet + `
	gatehouse {
		issuer http://$ID
		store bolt $DIR/state.db
		tokens {
			audience https://api.example
		}
		scope read "Read"
		scope write "Write"
		client reader {
			secret reader-secret-0123456789-0123456789-0123456789
			grants client_credentials
			scopes read
			default_scopes read
		}
		client writer {
			secret writer-secret-0123456789-0123456789-0123456789
			grants client_credentials
			scopes read write
			default_scopes read write
		}
		client blind {
			secret blind-secret-0123456789-0123456789-0123456789
			grants client_credentials
			scopes write
			default_scopes write
		}
	}
}
http://$ID {
	oauth_server
}
http://$API {
	api_errors
	oauth_guard {
		public * /open /open/*
		scope read GET,HEAD,OPTIONS /*
		scope write POST,PUT,PATCH,DELETE /*
		allow_encoded_slash
	}
	respond API_REST
}
`

// declared are resources over examples/legacy/api.
const declared = `
"resources": [{
	"path": "articles",
	"routes": [
		{"method": "GET", "path": "/articles", "upstream": "/api.php?mod=article&act=list"},
		{"method": "GET", "path": "/articles/{id}", "upstream": "/api.php?mod=article&act=get&aid={id}"},
		{"method": "POST", "path": "/articles", "upstream": "/api.php?mod=article&act=add", "as": "form"},
		{"method": "PUT", "path": "/articles/{id}", "upstream_method": "POST", "upstream": "/api.php?mod=article&act=edit&aid={id}", "as": "form"},
		{"method": "PATCH", "path": "/articles/{id}", "upstream_method": "POST", "upstream": "/api.php?mod=article&act=edit&aid={id}", "as": "form"},
		{"method": "DELETE", "path": "/articles/{id}", "upstream_method": "POST", "upstream": "/api.php?mod=article&act=del&aid={id}"}
	],
	"list": {
		"send": {"offset": "start", "limit": "count", "sort": "order", "sort_format": "{field} {dir}", "state": "st"},
		"sort": [{"name": "created_at", "upstream": "ctime"}, {"name": "title", "upstream": "subject"}],
		"states": [{"name": "published", "upstream": "1"}, {"name": "draft", "upstream": "0"}],
		"items": "/result/list", "total": "/result/total"
	},
	"item": "/result", "id": "/aid",
	"rename": {"id": "aid", "title": "subject", "created_at": "ctime"},
	"values": {"state": {"published": "1", "draft": "0"}},
	"replace": ["title", "body"],
	"created": {"status": 201, "id": "/result/aid"}, "deleted": 204,
	"links": [{"rel": "self"}, {"rel": "delete"}],
	"validate": [{"field": "title", "required": true, "length": [5, 100]}]
}, {
	"path": "students",
	"routes": [
		{"method": "GET", "path": "/students", "upstream": "/api.php?mod=student&act=list"},
		{"method": "GET", "path": "/students/{id}", "upstream": "/api.php?mod=student&act=get&sid={id}"}
	],
	"list": {"send": {"offset": "start", "limit": "count"}, "items": "/result/list", "total": "/result/total"},
	"item": "/result", "id": "/sid", "rename": {"id": "sid"},
	"nested": [{
		"path": "friends",
		"routes": [
			{"method": "GET", "path": "/students/{id}/friends", "upstream": "/api.php?mod=student&act=friends&sid={id}"},
			{"method": "DELETE", "path": "/students/{id}/friends/{sub_id}", "upstream_method": "POST", "upstream": "/api.php?mod=student&act=unfriend&sid={id}&fid={sub_id}"}
		],
		"list": {"send": {"offset": "start", "limit": "count"}, "items": "/result/list", "total": "/result/total"},
		"id": "/sid", "rename": {"id": "sid"}, "deleted": 204, "links": [{"rel": "delete"}]
	}]
}, {
	"path": "profile",
	"routes": [{"method": "GET", "path": "/profile", "upstream": "/api.php?mod=profile"}],
	"item": "/result"
}]`

// rig is a gateway in front of a legacy API.
type rig struct {
	*harness.Gateway
	t      *testing.T
	tokens map[string]string
}

// start loads the site with the members of an api_rest, "$TO" in them a sub-route to the
// upstream's address.
func start(t *testing.T, upstream, members string, more ...string) *rig {
	t.Helper()
	g := harness.Prepare(t, more...)
	r := &rig{g, t, make(map[string]string)}
	g.StartChanged(t, site, r.with(upstream, members))
	return r
}

func (r *rig) with(upstream, members string) func([]byte) []byte {
	return func(config []byte) []byte {
		to := `[{"handle": [{"handler": "reverse_proxy", "upstreams": [{"dial": "` + upstream + `"}]}]}]`
		handler := `{"handler": "gatehouse_rest", ` + strings.ReplaceAll(strings.TrimSpace(members), "$TO", to) + `}`
		was := []byte(`{"body":"API_REST","handler":"static_response"}`)
		if !bytes.Contains(config, was) || !json.Valid([]byte(handler)) {
			r.t.Fatalf("no place for %s in %s", handler, config)
		}
		return bytes.Replace(config, was, []byte(handler), 1)
	}
}

// legacy starts the legacy API and returns its address.
func legacy(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(api.New(api.Options{Import: -1}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func (r *rig) token(client string) string {
	r.t.Helper()
	if r.tokens[client] == "" {
		p := r.Token(r.t, harness.Credentials{ID: client, Secret: client + "-secret-0123456789-0123456789-0123456789"}, url.Values{"grant_type": {"client_credentials"}})
		r.tokens[client], _ = p.JSON(r.t)["access_token"].(string)
		if r.tokens[client] == "" {
			r.t.Fatalf("no token: %d %s", p.Status, p.Body)
		}
	}
	return r.tokens[client]
}

// do sends a request as a client; body "" for none, header in pairs.
func (r *rig) do(client, method, path, body string, header ...string) harness.Page {
	r.t.Helper()
	req, err := http.NewRequest(method, r.API+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body == "" {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if client != "" {
		req.Header.Set("Authorization", "Bearer "+r.token(client))
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return harness.Do(r.t, harness.NewBrowser(r.t, "").Client, req)
}
