package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestCreateVariantBClientByCommand(t *testing.T) {
	g := start(t)
	got := asJSON[object](t, g, "", "client", "create", "portal", "--variant-b", "--owner", "Acme", "--redirect-uri", "https://portal.example/wx",
		"--frame-origin", "https://portal.example", "--frame-origin", "https://www.portal.example", "--scope", "snsapi_login,snsapi_base", "--userinfo-content-type", "text")
	if value, _ := got["secret"].(string); len(value) != 43 {
		t.Errorf("its secret is %q", value)
	}
	for _, told := range []string{"created", "secrets", "secret"} {
		delete(got, told)
	}
	want := `map[frame_origins:[https://portal.example https://www.portal.example] grants:[authorization_code refresh_token] id:portal owner:Acme ` +
		`redirect_uris:[https://portal.example/wx] scopes:[snsapi_login snsapi_base] source:store userinfo_content_type:text variant_b:true]`
	if fmt.Sprint(got) != want {
		t.Errorf("%v", got)
	}
	if out := done(t, g, "", "client", "show", "portal"); !strings.Contains(out, "confidential,variant-b") || !strings.Contains(out, "https://www.portal.example") {
		t.Error(out)
	}
	if out := done(t, g, "", "client", "list"); !strings.Contains(out, "variant-b") {
		t.Error(out)
	}
	for field, c := range map[string]struct{ method, path, body string }{
		"variant_b":             {"POST", "clients", `{"variant_b":true,"public":true,"redirect_uris":["https://a.example/"],"scopes":["snsapi_login"]}`},
		"redirect_uris":         {"POST", "clients", `{"variant_b":true,"scopes":["snsapi_login"]}`},
		"scopes":                {"POST", "clients", `{"variant_b":true,"redirect_uris":["https://a.example/"],"scopes":["read"]}`},
		"frame_origins":         {"PATCH", "clients/portal", `{"frame_origins":["https://portal.example/x"]}`},
		"require_state":         {"PATCH", "clients/portal", `{"require_state":"sometimes"}`}, // S18
		"userinfo_content_type": {"PATCH", "clients/portal", `{"userinfo_content_type":"application/jwt"}`},
		"id":                    {"PATCH", "clients/portal", `{"variant_b":false,"frame_origins":null,"userinfo_content_type":"","scopes":["read"]}`},
	} {
		p := call(t, g, c.method, c.path, c.body)
		if code, message, at := adminError(t, p); p.Status != http.StatusBadRequest || code != "invalid_parameter" || at != field || message == "" {
			t.Errorf("%s: %d %s", field, p.Status, p.Body)
		}
	}
	if p := call(t, g, "POST", "clients", `{"id":"web2","redirect_uris":["https://a.example/"],"scopes":["snsapi_login"]}`); p.Status != http.StatusBadRequest {
		t.Errorf("a scope of Variant B for a client of OAuth: %d %s", p.Status, p.Body)
	}
	if p := call(t, g, "PATCH", "clients/portal", `{"name":"Portal"}`); p.Status != http.StatusOK || p.JSON(t)["variant_b"] != true {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

func TestCreateDeviceClientByCommand(t *testing.T) {
	g := start(t)
	got := asJSON[object](t, g, "", "client", "create", "tv", "--public", "--grant", "device_code,refresh_token", "--scope", "read")
	if fmt.Sprint(got["grants"]) != "[urn:ietf:params:oauth:grant-type:device_code refresh_token]" || got["secret"] != nil {
		t.Errorf("%v", got)
	}
}
