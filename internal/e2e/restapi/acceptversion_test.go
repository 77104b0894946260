package restapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// N17: what guard and limit say of a version's own address holds for a version in Accept also
// behind handle_path, and for each item of a batch.
func TestVersionRulesApplyToAcceptEverywhere(t *testing.T) {
	const v2 = "application/vnd.acme.v2+json"
	rules := func(prefix string) string {
		return strings.ReplaceAll(`oauth_guard {
			scope write GET,PATCH $AT/v2/things/*
			scope read GET,PATCH $AT/*
		}
		api_limit {
			client 20 1h
			cost 4 PATCH $AT/v2/things/*
		}`, "$AT", prefix)
	}
	for place, caddyfile := range map[string]string{
		"in front of handle_path": strings.NewReplacer("GUARD_FRONT", rules("/shop"), "GUARD_BEHIND", "").Replace(below),
		"within handle_path":      strings.NewReplacer("GUARD_FRONT", "", "GUARD_BEHIND", rules("")).Replace(below),
	} {
		t.Run("N17 "+place, func(t *testing.T) {
			u := harness.NewUpstream(t)
			u.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
			r := &rig{harness.Prepare(t), t, make(map[string]string)}
			r.StartChanged(t, caddyfile, r.with(u.Addr, `"vendor": "acme", "upstream": $TO, "versions": [{"name": "v2"}],
				"resources": [{"path": "things", "batch": ["title"]}]`))
			for _, c := range []struct {
				client, method, path, body string
				status, sent               int
				left                       string // of the limit
			}{
				{"reader", "GET", "/shop/v2/things/1", "", 403, 0, ""},
				{"reader", "GET", "/shop/things/1", "", 403, 0, "19"},
				{"reader", "GET", "/sh%6Fp/%74hings/1", "", 403, 0, "18"},
				{"reader", "PATCH", "/shop/things/1", `{"title":"x"}`, 403, 0, "17"},
				{"reader", "PATCH", "/shop/things", items(2), 403, 0, "16"},
				{"writer", "PATCH", "/shop/v2/things", items(2), 200, 2, "12"},
				{"writer", "PATCH", "/shop/things", items(2), 200, 2, "4"},
			} {
				var header []string
				if !strings.Contains(c.path, "/v2/") {
					header = []string{"Accept", v2}
				}
				p := r.do(c.client, c.method, c.path, c.body, header...)
				if sent := len(u.Hits()); p.Status != c.status || sent != c.sent || p.Header.Get("X-Ratelimit-Remaining") != c.left {
					t.Errorf("%s %s %s: %d, %d sent, %s left: %s", c.client, c.method, c.path, p.Status, sent, p.Header.Get("X-Ratelimit-Remaining"), p.Body)
				}
			}
		})
	}
}

// N17: a guard that names versions in its rules refuses in Accept what it refuses by path, though no rule is about it.
func TestVersionWithoutARuleIsRefusedInAccept(t *testing.T) {
	const v2 = "application/vnd.acme.v2+json"
	for _, c := range []struct {
		rules            string
		read, write, own int // what a writer gets by Accept, and by path
	}{
		{"scope read GET /things /things/*\nscope write PATCH /things /things/*\notherwise deny", 200, 204, 403},
		{"versions v1\nscope read GET /things /things/*\nscope write PATCH /things /things/*\notherwise deny", 403, 403, 403},
		{"scope read GET /things /things/* /v2/things /v2/things/*\nscope write PATCH /things /things/*\notherwise deny", 200, 403, 403},
		{"versions v2\nscope read GET /things /things/*\nscope write PATCH /things /things/*\notherwise deny", 200, 204, 204},
		{"scope read GET /things /things/* /v1/things\nscope write PATCH /things /things/*\notherwise token", 200, 204, 204},
	} {
		t.Run(c.rules, func(t *testing.T) {
			u := harness.NewUpstream(t)
			u.Answer(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				says("application/json", `{"id":1}`)(w, r)
			})
			r := &rig{harness.Prepare(t), t, make(map[string]string)}
			r.StartChanged(t, strings.NewReplacer("GUARD_FRONT", "", "GUARD_BEHIND", "oauth_guard {\n"+c.rules+"\n}").Replace(below),
				r.with(u.Addr, `"vendor": "acme", "upstream": $TO, "versions": [{"name": "v1"}, {"name": "v2"}],
				"resources": [{"path": "things", "batch": ["title"]}]`))
			for _, ask := range []struct {
				method, path, body, accept string
				status                     int
			}{
				{"GET", "/shop/things/1", "", v2, c.read},
				{"PATCH", "/shop/things/1", `{"title":"x"}`, v2, c.write},
				{"PATCH", "/shop/v2/things/1", `{"title":"x"}`, "application/json", c.own},
			} {
				if p := r.do("writer", ask.method, ask.path, ask.body, "Accept", ask.accept); p.Status != ask.status {
					t.Errorf("%s %s as %s: %d: %s", ask.method, ask.path, ask.accept, p.Status, p.Body)
				}
			}
		})
	}
}

// N17: a link is shown only if the guard lets the caller follow it with the same version in Accept.
func TestLinksOfAVersionInAcceptFollowItsRules(t *testing.T) {
	const self, remove = `"rel":"self"`, `"rel":"delete"`
	for _, c := range []struct {
		rules         string
		plain, accept bool // whether the link to delete is shown
	}{
		{"scope read GET /things/* /v2/things/*\nscope write DELETE /things/*\notherwise deny", true, false},
		{"versions v2\nscope read GET /things/*\nscope write DELETE /things/*\notherwise deny", true, true},
		{"scope read GET /things/* /v2/things/*\nscope write DELETE /v2/things/*\notherwise deny", false, false},
		{"scope read GET /things/*\nscope write DELETE /things/*\notherwise deny", true, true},
	} {
		t.Run(c.rules, func(t *testing.T) {
			u := harness.NewUpstream(t)
			u.Answer(says("application/json", `{"id":1}`))
			r := &rig{harness.Prepare(t), t, make(map[string]string)}
			r.StartChanged(t, strings.NewReplacer("GUARD_FRONT", "", "GUARD_BEHIND", "oauth_guard {\n"+c.rules+"\n}").Replace(below),
				r.with(u.Addr, `"vendor": "acme", "upstream": $TO, "versions": [{"name": "v1"}, {"name": "v2"}],
				"resources": [{"path": "things", "links": [{"rel": "self"}, {"rel": "delete"}]}]`))
			for accept, want := range map[string]bool{"application/json": c.plain, "application/vnd.acme.v2+json": c.accept} {
				p := r.do("writer", "GET", "/shop/things/1", "", "Accept", accept)
				if p.Status != 200 || !strings.Contains(p.Body, self) || strings.Contains(p.Body, remove) != want {
					t.Errorf("%s: %d: %s", accept, p.Status, p.Body)
				}
			}
		})
	}
}

// N17: items of a batch are judged, and cost, by the addresses that the client would use for each,
// also if the path is rewritten in between.
func TestItemsAreJudgedByTheClientsPathsBehindRewrites(t *testing.T) {
	for _, others := range []string{"otherwise token", "scope read PATCH /stock/items /stock/items/*"} {
		t.Run(others, func(t *testing.T) {
			u := harness.NewUpstream(t)
			u.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
			r := &rig{harness.Prepare(t), t, make(map[string]string)}
			r.StartChanged(t, strings.NewReplacer("GUARD_FRONT", `oauth_guard {
					scope write PATCH /stock/items/2
					`+others+`
				}
				api_limit {
					client 20 1h
					cost 4 PATCH /stock/items/1
				}
				uri path_regexp ^/stock/items /shop/things`, "GUARD_BEHIND", "").Replace(below),
				r.with(u.Addr, `"upstream": $TO, "resources": [{"path": "things", "batch": ["title"]}]`))
			for _, c := range []struct {
				client, method, path, body string
				status, sent               int
				left                       string // of the limit
			}{
				{"reader", "PATCH", "/stock/items/2", `{"title":"x"}`, 403, 0, ""},
				{"reader", "PATCH", "/stock/items", items(2), 403, 0, "19"},
				{"reader", "PATCH", "/st%6Fck/items", items(2), 403, 0, "18"},
				{"reader", "PATCH", "/stock/items", items(1), 200, 1, "14"},
				{"writer", "PATCH", "/stock/items", items(2), 200, 2, "15"},
			} {
				p := r.do(c.client, c.method, c.path, c.body)
				if sent := len(u.Hits()); p.Status != c.status || sent != c.sent || p.Header.Get("X-Ratelimit-Remaining") != c.left {
					t.Errorf("%s %s %s: %d, %d sent, %s left: %s", c.client, c.method, c.path, p.Status, sent, p.Header.Get("X-Ratelimit-Remaining"), p.Body)
				}
			}
		})
	}
}

// N17: a limit in front of the guard finds the address again that the guard has written in another way.
func TestVersionInAcceptCostsTheSameInAnySpelling(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r := &rig{harness.Prepare(t), t, make(map[string]string)}
	r.StartChanged(t, strings.NewReplacer("GUARD_FRONT", `api_limit {
			all 100 1h
			cost 4 /shop/v2/things/*
		}
		oauth_guard`, "GUARD_BEHIND", "").Replace(below), r.with(u.Addr, `"vendor": "acme", "upstream": $TO, "versions": [{"name": "v2"}],
		"resources": [{"path": "things", "batch": ["title"]}]`))
	for _, c := range []struct{ method, path, body, left string }{
		{"GET", "/shop/v2/things/1", "", "96"},
		{"GET", "/shop/things/1", "", "92"},
		{"GET", "/shop/%74hings/1", "", "88"},
		{"GET", "/sh%6Fp/th%69ngs/1", "", "84"},
		{"PATCH", "/shop/%74hings", items(3), "72"},
	} {
		p := r.do("writer", c.method, c.path, c.body, "Accept", "application/vnd.acme.v2+json")
		if p.Status > 299 || p.Header.Get("X-Ratelimit-Remaining") != c.left {
			t.Errorf("N17 %s %s: %d, %s left: %s", c.method, c.path, p.Status, p.Header.Get("X-Ratelimit-Remaining"), p.Body)
		}
	}
}

// N17: of two guards on the way both are asked, also where the inner one only watches.
func TestNestedGuardsBothCheckItemsAndVersions(t *testing.T) {
	const outer = `oauth_guard {
			scope read GET,PATCH /shop/things
			scope write GET,PATCH /shop/v2/* /shop/things/2
			scope read GET,PATCH /shop/things/*
			forward_token
		}`
	const inner = "oauth_guard {\n\t\t\t\tscope read GET,PATCH /*\n\t\t\t\t$SHADOW\n\t\t\t}"
	for name, shadow := range map[string]string{"both": "", "a shadow behind": "shadow"} {
		t.Run("N17 "+name, func(t *testing.T) {
			u := harness.NewUpstream(t)
			u.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
			r := &rig{harness.Prepare(t), t, make(map[string]string)}
			r.StartChanged(t, strings.NewReplacer("GUARD_FRONT", outer, "GUARD_BEHIND", strings.ReplaceAll(inner, "$SHADOW", shadow)).Replace(below),
				r.with(u.Addr, `"vendor": "acme", "upstream": $TO, "versions": [{"name": "v2"}], "resources": [{"path": "things", "batch": ["title"]}]`))
			for _, c := range []struct {
				client, method, path, accept, body string
				status, sent                       int
			}{
				{"reader", "PATCH", "/shop/things", "", items(1), 200, 1},
				{"reader", "PATCH", "/shop/things", "", items(2), 403, 0},
				{"writer", "PATCH", "/shop/things", "", items(2), 200, 2},
				{"reader", "GET", "/shop/things/1", "", "", 204, 1},
				{"reader", "GET", "/shop/things/1", "application/vnd.acme.v2+json", "", 403, 0},
				{"writer", "GET", "/shop/things/1", "application/vnd.acme.v2+json", "", 204, 1},
			} {
				var header []string
				if c.accept != "" {
					header = []string{"Accept", c.accept}
				}
				p := r.do(c.client, c.method, c.path, c.body, header...)
				if sent := len(u.Hits()); p.Status != c.status || sent != c.sent {
					t.Errorf("%s %s %s %s: %d, %d sent: %s", c.client, c.method, c.path, c.accept, p.Status, sent, p.Body)
				}
			}
		})
	}
}

// A key that was used for one version is not answered for another that Accept names.
func TestIdempotencyKeyIsForTheVersionInAccept(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(says("application/json", `{"id":1}`))
	r := &rig{harness.Prepare(t), t, make(map[string]string)}
	r.StartChanged(t, site, r.with(u.Addr, `"vendor": "acme", "upstream": $TO, "versions": [{"name": "v1"}, {"name": "v2"}],
		"resources": [{"path": "things", "idempotency": true}]`))
	ask := func(version string) harness.Page {
		return r.do("writer", "POST", "/things", `{"a":1}`, "Idempotency-Key", "k-1", "Accept", "application/vnd.acme."+version+"+json")
	}
	if p := ask("v1"); p.Status != http.StatusCreated {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	wantError(t, ask("v2"), 422, "idempotency_key_reused", "Idempotency-Key")
	if p := ask("v1"); p.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%d %v", p.Status, p.Header)
	}
}
