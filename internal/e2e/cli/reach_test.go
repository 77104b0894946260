package cli

import (
	"strings"
	"testing"
)

func TestDoctorFindsUnreachableHandlers(t *testing.T) {
	api := func(handlers string) string {
		return site[:strings.Index(site, "http://$API {")] + "http://$API {\n" + handlers + "}\n"
	}
	for name, c := range map[string]struct {
		site, grade, check, part string
	}{
		"S05 all is reached":             {site, "ok", "reach", "every handler"},
		"S05 a guard behind the API":     {api("\troute {\n\treverse_proxy $UPSTREAM\n\toauth_guard\n\t}\n"), "warn", "reach", "oauth_guard behind reverse_proxy"},
		"S05 an API behind respond":      {api("\trespond hello\n\treverse_proxy $UPSTREAM\n"), "warn", "reach", "reverse_proxy behind static_response"},
		"S05 behind alternatives":        {api("\troute {\n\thandle /a {\n\trespond a\n\t}\n\thandle {\n\trespond b\n\t}\n\toauth_guard\n\t}\n"), "warn", "reach", "oauth_guard behind static_response"},
		"S05 the issuer's own path":      {strings.Replace(site, "\toauth_server\n", "\troute {\n\toauth_server\n\treverse_proxy /token $UPSTREAM\n\t}\n", 1), "warn", "reach", "oauth_server, whose own paths"},
		"S05 not behind a matcher":       {api("\troute {\n\trespond /hello hello\n\treverse_proxy $UPSTREAM\n\t}\n"), "ok", "reach", "every handler"},
		"S05 not after one alternative":  {api("\troute {\n\thandle /a {\n\theader A b\n\t}\n\thandle {\n\trespond b\n\t}\n\treverse_proxy $UPSTREAM\n\t}\n"), "ok", "reach", "every handler"},
		"S05 not beside the issuer":      {strings.Replace(site, "\toauth_server\n", "\toauth_server\n\treverse_proxy $UPSTREAM\n", 1), "ok", "reach", "every handler"},
		"S11 no API behind a guard":      {api("\tapi_errors\n\toauth_guard\n"), "warn", "reach", "no handler behind oauth_guard answers: Caddy gives an empty 200"},
		"S11 no API behind api_rest":     {api("\toauth_guard\n\tapi_rest {\n\t\tresource articles\n\t}\n"), "warn", "reach", "no handler behind api_rest answers: every request is 502"},
		"S11 api_rest and api_proxy":     {api("\toauth_guard\n\tapi_rest {\n\t\tresource articles\n\t}\n\tapi_proxy $UPSTREAM\n"), "ok", "reach", "every handler"},
		"S05 an API behind api_proxy":    {api("\troute {\n\tapi_proxy $UPSTREAM\n\toauth_guard\n\t}\n"), "warn", "reach", "oauth_guard behind api_proxy"},
		"S11 api_rest in front of one":   {api("\toauth_guard\n\tapi_rest {\n\t\tresource articles\n\t}\n\treverse_proxy $UPSTREAM\n"), "ok", "reach", "every handler"},
		"S11 api_rest with its own":      {api("\toauth_guard\n\tapi_rest {\n\t\tto $UPSTREAM\n\t\tresource articles\n\t}\n"), "ok", "reach", "every handler"},
		"S11 a guard that is only asked": {api("\toauth_guard\n\trespond 204\n"), "ok", "reach", "every handler"},
		"S07 a limit without a guard":    {api("\tapi_limit {\n\t\tclient 10 1m\n\t}\n\treverse_proxy $UPSTREAM\n"), "fail", "limit", "the policy client of an api_limit counts nobody"},
		"S07 a limit is named by line":   {api("\tapi_limit {\n\t\tclient 10 1m\n\t}\n\treverse_proxy $UPSTREAM\n"), "fail", "limit", "Caddyfile:"},
		"S07 a limit elsewhere in front": {api("\troute {\n\troute /a/* {\n\tapi_limit {\n\t\tuser 10 1m\n\t}\n\t}\n\troute /a/* {\n\toauth_guard\n\t}\n\treverse_proxy $UPSTREAM\n\t}\n"), "fail", "limit", "the policy user"},
		"S07 a limit behind a guard":     {api("\toauth_guard\n\tapi_limit {\n\t\tclient 10 1m\n\t}\n\treverse_proxy $UPSTREAM\n"), "ok", "reach", "behind a guard"},
	} {
		t.Run(name, func(t *testing.T) {
			g := startSite(t, c.site)
			if _, all := examined(t, g); !has(all, c.grade, c.check, c.part) {
				t.Errorf("%+v", all)
			}
		})
	}
}

func TestExplainReportsRequestsNobodyAnswers(t *testing.T) {
	g := startSite(t, strings.Replace(site, "\treverse_proxy $UPSTREAM\n", "", 1))
	for scopes, want := range map[string]bool{"read": true, "write": false} {
		if out := done(t, g, "", "explain", "GET", g.Text("http://$API/read"), "--scope", scopes); strings.Contains(out, "no handler answers it") != want {
			t.Errorf("S11 with the scope %s: %s", scopes, out)
		}
	}
}
