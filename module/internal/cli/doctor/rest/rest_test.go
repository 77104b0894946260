package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

const (
	guarding  = `{"handler":"gatehouse_guard","rules":[{"scopes":["write"],"methods":["POST","PUT","PATCH","DELETE"],"paths":["/*"]},{"scopes":["read"],"paths":["/*"]}]}`
	articles  = `{"handler":"gatehouse_rest","upstream":[{"handle":[{"handler":"reverse_proxy"}]}],"resources":[{"path":"articles"}]}`
	readsOnly = `{"handler":"gatehouse_rest","openapi":{},"resources":[{"path":"articles","routes":[{"method":"GET","path":"/articles","upstream":"/a"}]}]}`
)

// restFindings are those of a site with these handlers.
func restFindings(t *testing.T, handlers ...string) []adminapi.Finding {
	t.Helper()
	text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example","scopes":[{"name":"read"},{"name":"write"}]},"http":{"servers":{"s":{"listen":[":443"],"routes":[
		{"match":[{"host":["api.example"]}],"terminal":true,"handle":[{"handler":"subroute","routes":[{"handle":[%s]}]}]},
		{"match":[{"host":["other.example"]}],"terminal":true,"handle":[{"handler":"subroute","routes":[{"handle":[%s,%s]}]}]}]}}}}}`,
		strings.Join(handlers, ","), guarding, readsOnly)
	c, err := explain.ReadConfiguration([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var found []adminapi.Finding
	for _, f := range Examine(c, time.Now()) {
		if f.Check == "rest" {
			found = append(found, f)
		}
		if (f.Remedy == "") != (f.Grade == adminapi.GradeOK) {
			t.Errorf("%+v", f)
		}
	}
	return found
}

func TestDoctorReportsWhoMayWriteDeclaredResources(t *testing.T) {
	const fine = "ok nobody changes what 2 api_rest declare without a scope"
	rule := func(rules string) string { return `{"handler":"gatehouse_guard","rules":[` + rules + `]}` }
	for name, c := range map[string]struct {
		handlers []string
		want     string // grade and part; "" for no finding
	}{
		"a guard":         {[]string{guarding, articles}, fine},
		"no guard":        {[]string{articles}, "warn nobody needs a token for POST /articles, PUT /articles/{id}, PATCH /articles/{id} and 2 more"},
		"it is told, too": {[]string{strings.Replace(articles, `"resources"`, `"openapi":{},"resources"`, 1)}, "warn 2 more, and `openapi` tells everybody how"},
		"what is public": {[]string{rule(`{"public":true,"methods":["DELETE"],"paths":["/articles/*"]},{"scopes":["write"],"paths":["/*"]}`), articles},
			"warn nobody needs a token for DELETE /articles/{id}"},
		"any token": {[]string{`{"handler":"gatehouse_guard","otherwise":"token","rules":[{"scopes":["write"],"methods":["POST","PUT","PATCH"],"paths":["/*"]}]}`, articles},
			"warn any valid token is enough for DELETE /articles/{id}"},
		"what is denied":    {[]string{rule(`{"scopes":["read"],"methods":["GET"],"paths":["/*"]}`), articles}, fine},
		"said of the guard": {[]string{`{"handler":"gatehouse_guard"}`, articles}, fine},
		"a shadow":          {[]string{strings.Replace(guarding, `"rules"`, `"shadow":true,"rules"`, 1), articles}, fine},
		"another guard":     {[]string{`{"handler":"authentication","providers":{}}`, articles}, fine},
		"a forward_auth":    {[]string{`{"handler":"reverse_proxy","handle_response":[{}]}`, articles}, fine},
		"nothing to change": {[]string{readsOnly}, fine},
		"a job": {[]string{`{"handler":"gatehouse_rest","upstream":[{"handle":[{"handler":"reverse_proxy"}]}],"jobs":[{"path":"mails","upstream":"/m"}]}`},
			"warn nobody needs a token for POST /mails"},
		"a version of its own": {[]string{rule(`{"public":true,"methods":["POST"],"paths":["/v1/articles"]},{"scopes":["write"],"paths":["/*"]}`), strings.Replace(articles, `"resources"`, `"versions":[{"name":"v1"}],"resources"`, 1)},
			"warn nobody needs a token for POST /v1/articles"},
		"below a prefix": {[]string{`{"handler":"subroute","routes":[{"match":[{"path":["/api/*"]}],"handle":[{"handler":"rewrite","strip_path_prefix":"/api"},` + articles + `]}]}`},
			"warn nobody needs a token for POST /api/articles"},
		"a guard before a prefix": {[]string{guarding, `{"handler":"subroute","routes":[{"match":[{"path":["/api/*"]}],"handle":[{"handler":"rewrite","strip_path_prefix":"/api"},` + articles + `]}]}`}, fine},
	} {
		t.Run(name, func(t *testing.T) {
			found := restFindings(t, c.handlers...)
			grade, part, _ := strings.Cut(c.want, " ")
			if len(found) != 1 || found[0].Grade != grade || !strings.Contains(found[0].Message, part) {
				t.Errorf("%+v, want %s", found, c.want)
			}
		})
	}
}

func TestDoctorFindsExpiredVersions(t *testing.T) {
	for sunset, want := range map[string]bool{"2020-06-30T00:00:00Z": true, "2099-06-30T00:00:00Z": false} {
		for _, gone := range []string{"false", "true"} {
			version := `"versions":[{"name":"v1","sunset":"` + sunset + `","gone":` + gone + `}],"resources"`
			found := restFindings(t, guarding, strings.Replace(articles, `"resources"`, version, 1))
			over := len(found) == 1 && found[0].Grade == "warn" && strings.Contains(found[0].Message, "version v1 has ended on 2020-06-30")
			if over != (want && gone == "false") || len(found) != 1 {
				t.Errorf("%s, gone %s: %+v", sunset, gone, found)
			}
		}
	}
}

func TestDoctorChecksFetchRanges(t *testing.T) {
	for allow, want := range map[string]string{
		`"10.1.0.0/16","192.168.1.7"`: "warn 10.1.0.0/16, 192.168.1.7", `"10.0.0.0/8","0.0.0.0/0"`: "fail 169.254.169.254", `"169.254.169.254"`: "fail 169.254.169.254", ``: "ok ",
	} {
		found := restFindings(t, guarding, `{"handler":"gatehouse_rest","upstream":[{"handle":[{"handler":"reverse_proxy"}]}],"jobs":[{"path":"import-jobs","upstream":"/m","fetch":{"allow":[`+allow+`]}}]}`)
		grade, part, _ := strings.Cut(want, " ")
		if len(found) != 1 || found[0].Grade != grade || !strings.Contains(found[0].Message, part) {
			t.Errorf("%s: %+v", allow, found)
		}
	}
	if found := restFindings(t, guarding, `{"handler":"gatehouse_rest","jobs":[{"path":"import-jobs","upstream":"/m"}],"resources":[{"path":"notes"}]}`); len(found) != 1 || found[0].Grade != "ok" {
		t.Errorf("%+v", found)
	}
}

func TestDoctorFindsProtectedMembersWithoutAList(t *testing.T) {
	const role = `"validate":[{"field":"title","required":true},{"field":"role","readonly":true}`
	for words, want := range map[string]string{
		role + `]`:                                                                 "articles (role)",
		role + `,{"field":"*","readonly":true}]`:                                   "",
		role + `],"schema":{"file":"article.json"}`:                                "",
		`"validate":[{"field":"title","required":true}]`:                           "",
		`"fixed":[{"name":"owner","in":"body","value":"me"}]`:                      "articles (owner)",
		`"fixed":[{"name":"owner","in":"query","value":"me"}]`:                     "",
		role + `],"routes":[{"method":"GET","path":"/articles","upstream":"/a"}]`:  "",
		role + `],"routes":[{"method":"POST","path":"/articles","upstream":"/a"}]`: "articles (role)",
	} {
		for _, rest := range []string{
			`{"handler":"gatehouse_rest","resources":[{"path":"articles",` + words + `}]}`,
			`{"handler":"gatehouse_rest","resources":[{"path":"notes"}],"versions":[{"name":"v1","resources":[{"path":"articles",` + words + `}]}]}`,
		} {
			found := restFindings(t, guarding, rest)
			if len(found) != 1 || (found[0].Grade == "ok") != (want == "") || !strings.Contains(found[0].Message, want) {
				t.Errorf("%s: %+v, want %s", rest, found, want)
			}
		}
	}
	shared := `{"handler":"gatehouse_rest","fixed":[{"name":"owner","in":"body","value":"me"}],"resources":[{"path":"articles"},{"path":"notes","validate":[{"field":"*","readonly":true}]}]}`
	if found := restFindings(t, guarding, shared); len(found) != 1 || !strings.HasSuffix(found[0].Message, ": articles (owner)") {
		t.Errorf("%+v", found)
	}
	for params, want := range map[string]bool{`[{body.uris}]`: true, `{"id":{id},"all":{body}}`: false} {
		call := fmt.Sprintf(`{"handler":"gatehouse_rest","fixed":[{"name":"auth","in":"body","value":"{env.X}"}],"resources":[{"path":"downloads","routes":[{"method":"POST","path":"/downloads/{id}","upstream":"/jsonrpc","rpc":{"method":"add","params":%q}}]}]}`, params)
		if found := restFindings(t, guarding, call); len(found) != 1 || (found[0].Grade == "ok") != want {
			t.Errorf("%s: %+v", params, found)
		}
	}
}

func TestDoctorLimitsItsRequests(t *testing.T) {
	var all []string
	for i := range maxChanges {
		all = append(all, fmt.Sprintf(`{"path":"things%d"}`, i))
	}
	begun := time.Now()
	found := restFindings(t, `{"handler":"gatehouse_rest","upstream":[{"handle":[{"handler":"reverse_proxy"}]}],"resources":[`+strings.Join(all, ",")+`]}`)
	if len(found) != 1 || !strings.Contains(found[0].Message, fmt.Sprintf(" and %d more", maxChanges-3)) {
		t.Errorf("%+v", found)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
