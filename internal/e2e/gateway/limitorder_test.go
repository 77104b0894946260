package gateway

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// S07: a limit by caller in front of the guard would limit nobody.
func TestCallerLimitMustFollowTheGuard(t *testing.T) {
	const limitFirst = "\tapi_limit {\n\t\tclient 10 1m\n\t}\n"
	const guardOnly = "\toauth_guard\n"
	behind := func(api string) string {
		return site[:strings.Index(site, "http://$API {")] + "http://$API {\n" + api + "}\n"
	}
	route := func(inside string) string { return behind("\troute {\n" + inside + "\treverse_proxy $UPSTREAM\n\t}\n") }
	g, _ := prepare(t)
	g.Start(t, site)
	for name, text := range map[string]string{
		"S07 client":                    route(limitFirst + guardOnly),
		"S07 user among others":         route("\tapi_limit {\n\t\tip 10 1m\n\t\tuser 10 1m\n\t}\n" + guardOnly),
		"S07 by the guard's rule":       route("\tapi_limit {\n\t\troute 10 1m\n\t}\n" + guardOnly),
		"S07 by a guard's placeholder":  route("\tapi_limit {\n\t\tby who {http.auth.user.id} 10 1m\n\t}\n" + guardOnly),
		"S07 the guard with a matcher":  route(limitFirst + "\toauth_guard /private/*\n"),
		"S07 the limit with a matcher":  route("\tapi_limit /read/* {\n\t\tclient 10 1m\n\t}\n" + guardOnly),
		"S07 the guard further in":      route(limitFirst + "\thandle /read/* {\n\t\toauth_guard\n\t}\n"),
		"S07 two routes around them":    behind("\troute {\n\troute {\n" + limitFirst + guardOnly + "\t}\n\trespond ok\n\t}\n"),
		"S07 after a route of no guard": behind("\troute /public/* {\n\trespond ok\n\t}\n\troute {\n" + limitFirst + guardOnly + "\t}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			err := g.TryLoad(text)
			if err == nil {
				t.Fatal("it was loaded")
			}
			if got := err.Error(); !strings.Contains(got, "put oauth_guard in front of api_limit") || !strings.Contains(got, "api_limit (Caddyfile:"+lineOf(g.Text(text), "api_limit")+")") {
				t.Error(got)
			}
		})
	}
	t.Run("S07 JSON names the server", func(t *testing.T) {
		g.ChangeConfigs(func(config []byte) []byte {
			return regexp.MustCompile(`,"source":"Caddyfile:\d+"|"source":"Caddyfile:\d+",`).ReplaceAll(config, nil)
		})
		defer g.ChangeConfigs(nil)
		err := g.TryLoad(route(limitFirst + guardOnly))
		if err == nil || !strings.Contains(err.Error(), "api_limit (server srv") {
			t.Error(err)
		}
	})
	for name, text := range map[string]string{
		"the usual order":              behind(limitFirst + guardOnly + "\treverse_proxy $UPSTREAM\n"), // directives have an order
		"by address":                   route("\tapi_limit {\n\t\tip 10 1m\n\t}\n" + guardOnly),
		"a guard in front and behind":  route(guardOnly + limitFirst + guardOnly),
		"a guard around":               behind("\toauth_guard\n\troute {\n" + limitFirst + "\toauth_guard /private/*\n\t}\n"),
		"a guard in an earlier route":  behind("\troute {\n\toauth_guard\n\t}\n\troute {\n" + limitFirst + guardOnly + "\t}\n"),
		"a guard for some in front":    route("\toauth_guard /read/*\n" + limitFirst + "\toauth_guard /admin/*\n"),
		"alternatives":                 route("\thandle /a {\n" + limitFirst + "\t}\n\thandle {\n\toauth_guard\n\t}\n"),
		"a named route that may guard": "&(front) {\n\toauth_guard\n}\n" + route("\tinvoke front\n"+limitFirst+guardOnly),
	} {
		t.Run("S07 not refused: "+name, func(t *testing.T) {
			if name == "a named route that may guard" {
				head, tail, _ := strings.Cut(text, "&(front) {\n\toauth_guard\n}\n")
				global := strings.Index(tail, "\n}\n") + len("\n}\n")
				text = head + tail[:global] + "&(front) {\n\toauth_guard\n}\n" + tail[global:]
			}
			if err := g.TryLoad(text); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("S07 a warning at the first request", func(t *testing.T) {
		for name, c := range map[string]struct {
			api  string
			want int
		}{
			"no guard":       {limitFirst + "\trespond ok\n", 1},
			"a guard":        {limitFirst + guardOnly + "\trespond ok\n", 0},
			"by the address": {"\tapi_limit {\n\t\tip 10 1m\n\t}\n\trespond ok\n", 0},
		} {
			log := "order-" + strings.ReplaceAll(name, " ", "-")
			g.Load(t, strings.Replace(behind(c.api), "output discard", "output file $DIR/"+log, 1))
			access, _ := tokens(t, g, web)
			for range 3 {
				g.Call(t, "GET", "/x", access)
			}
			text, err := os.ReadFile(filepath.Join(g.Dir, log))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(text), "limits nobody"); got != c.want {
				t.Errorf("%s: %d warnings, want %d: %s", name, got, c.want, text)
			}
		}
	})
}

// lineOf is the number of the line that has a word first.
func lineOf(text, word string) string {
	before, _, _ := strings.Cut(text, word)
	return strconv.Itoa(strings.Count(before, "\n") + 1)
}
