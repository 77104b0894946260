package headers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

func TestDoctorFindsHeadersThatLetCachesStoreRefusals(t *testing.T) {
	const (
		guard    = `{"handler":"gatehouse_guard","rules":[{"public":true,"methods":["*"],"paths":["/*"]}]}`
		deferred = `{"handler":"headers","response":{"deferred":true,"delete":["Server"],"set":{"cache-control":["public, max-age=60"]}}}`
	)
	sub := func(group string, handlers ...string) string {
		return `{"group":"` + group + `","handle":[{"handler":"subroute","routes":[{"handle":[` + strings.Join(handlers, ",") + `]}]}]}`
	}
	at := func(path, group string, handlers ...string) string {
		return strings.Replace(sub(group, handlers...), "{", `{"match":[{"path":["`+path+`"]}],`, 1)
	}
	const vary = `{"handler":"headers","response":{"set":{"Vary":["Accept"]}}}`
	storing := func(require string) string {
		return `{"handler":"headers","response":{"require":` + require + `,"set":{"Cache-Control":["public, max-age=60"]}}}`
	}
	const files, rewrite = `{"handler":"file_server"}`, `{"handler":"rewrite","strip_path_prefix":"/assets"}`
	for name, c := range map[string]struct {
		routes []string
		want   bool
	}{
		"for files, beside":                 {[]string{at("/Assets/*", "", deferred), at("/assets/*", "g", files), sub("g", guard)}, false},
		"for some files, beside":            {[]string{at("/assets/js/*", "", deferred), at("/assets/*", "g", files), sub("g", guard)}, false},
		"for a file, beside":                {[]string{at("/logo.png", "", deferred), at("/logo.png", "g", files), sub("g", guard)}, false},
		"for more than the files":           {[]string{at("/a*", "", deferred), at("/assets/*", "g", files), sub("g", guard)}, true},
		"for files by method":               {[]string{at("/assets/*", "", deferred), strings.Replace(at("/assets/*", "g", files), `"path"`, `"method":["GET"],"path"`, 1), sub("g", guard)}, true},
		"for files, of no group":            {[]string{at("/assets/*", "", deferred), at("/assets/*", "", files), sub("", guard)}, true},
		"for files that a guard is in":      {[]string{at("/assets/*", "", deferred), at("/assets/*", "g", guard, files), sub("g", files)}, true},
		"for other paths than the guard":    {[]string{at("/assets/*", "", deferred), at("/api/*", "", guard)}, false},
		"for a path of the guard":           {[]string{at("/api/assets/*", "", deferred), at("/api/*", "", guard)}, true},
		"for any suffix":                    {[]string{at("*.js", "", deferred), at("/api/*", "", guard)}, true},
		"for other paths before a rewrite":  {[]string{at("/assets/*", "", deferred), sub("", rewrite), at("/api/*", "", guard)}, true},
		"for other paths, one for all also": {[]string{at("/assets/*", "", deferred), sub("", deferred), at("/api/*", "", guard)}, true},
		"in a route of other paths":         {[]string{at("/assets/*", "", `{"handler":"subroute","routes":[{"handle":[`+deferred+`]}]}`), at("/api/*", "", guard)}, false},
		"in front":                          {[]string{sub("", deferred, guard)}, true},
		"in front, in a route":              {[]string{sub("", deferred), sub("", guard)}, true},
		"behind":                            {[]string{sub("", guard, deferred)}, false},
		"in another handle":                 {[]string{sub("g", deferred), sub("g", guard)}, false},
		"in front of handle":                {[]string{sub("", deferred), sub("g", `{"handler":"file_server"}`), sub("g", guard)}, true},
		"behind handles":                    {[]string{sub("g", deferred), sub("g", `{"handler":"file_server"}`), sub("", guard)}, true},
		"only where none is":                {[]string{sub("", strings.Replace(deferred, `"deferred":true`, `"deferred":true,"require":{"headers":{"Cache-Control":null}}`, 1), guard)}, false},
		"at once":                           {[]string{sub("", strings.Replace(deferred, `"deferred":true`, `"deferred":false`, 1), guard)}, false},
		"no-store":                          {[]string{sub("", strings.Replace(deferred, "public, max-age=60", "no-store", 1), guard)}, false},
		"without Vary":                      {[]string{sub("", `{"handler":"headers","response":{"deferred":true,"delete":["vary"]}}`, guard)}, true},
		"in a named route":                  {[]string{sub("", `{"handler":"invoke","name":"front"}`, guard)}, true},
		"no handler of ours":                {[]string{sub("", deferred, `{"handler":"file_server"}`)}, false},
		"Vary of some responses":            {[]string{sub("", `{"handler":"headers","response":{"require":{"status_code":[2]},"set":{"Vary":["Accept"]}}}`, guard)}, true},
		"Vary where none is":                {[]string{sub("", `{"handler":"headers","response":{"require":{"headers":{"Vary":null}},"set":{"Vary":["Accept"]}}}`, guard)}, false},
		"for responses of the API":          {[]string{sub("", storing(`{"status_code":[2]}`), guard)}, false},
		"for pages of the gateway":          {[]string{sub("", storing(`{"status_code":[2]}`), `{"handler":"gatehouse_server"}`)}, true},
		"for refusals":                      {[]string{sub("", storing(`{"status_code":[403]}`), guard)}, true},
		"for missing pages":                 {[]string{sub("", storing(`{"status_code":[404]}`), guard)}, false},
		"for pictures":                      {[]string{sub("", storing(`{"headers":{"Content-Type":["image/*"]}}`), guard)}, false},
		"for JSON":                          {[]string{sub("", storing(`{"headers":{"Content-Type":["application/json*"]}}`), guard)}, true},
		"Vary of responses it replaces":     {[]string{sub("", `{"handler":"intercept","handle_response":[{"routes":[{"handle":[`+vary+`]}]}]}`, guard)}, true},
		"what it replaces of the API":       {[]string{sub("", `{"handler":"intercept","handle_response":[{"match":{"status_code":[5]},"routes":[{"handle":[`+strings.Replace(deferred, `"deferred":true,`, "", 1)+`]}]}]}`, `{"handler":"file_server"}`)}, false},
		"requests that it eats":             {[]string{sub("", `{"handler":"invoke","name":"fork"}`, guard)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, site := range []string{`{"match":[{"host":["api.example"]}],"terminal":true,"handle":[{"handler":"subroute","routes":[%s]}]}`, `%s`} {
				text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],
					"named_routes":{"front":{"handle":[%s]},"fork":{"handle":[{"handler":"invoke","name":"fork"},{"handler":"invoke","name":"fork"}]}},"routes":[%s]}}}}}`, deferred, fmt.Sprintf(site, strings.Join(c.routes, ",")))
				if !json.Valid([]byte(text)) {
					t.Fatal(text)
				}
				read, err := explain.ReadConfiguration([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if got := len(Examine(read)) > 0; got != c.want {
					t.Errorf("%t: %s", got, text)
				}
			}
		})
	}
}

func TestDoctorFindsWhatAHeaderDoesToRefusals(t *testing.T) {
	for operation, want := range map[string]string{
		`"set":{"Vary":["Accept-Language"]}`:                                 "Vary",
		`"set":{"vary":["accept-language, authorization"]}`:                  "",
		`"set":{"Vary":["*"]}`:                                               "",
		`"add":{"Vary":["Accept-Language"]}`:                                 "Vary",
		`"replace":{"Vary":[{"search_regexp":"^.*$","replace":"Accept"}]}`:   "Vary",
		`"replace":{"Vary":[{"search_regexp":"Accept","replace":"Origin"}]}`: "",
		`"delete":["*"]`:                                       "Vary",
		`"delete":["va*"]`:                                     "Vary",
		`"delete":["*ary"]`:                                    "Vary",
		`"delete":["Cache-*"]`:                                 "Cache-Control",
		`"delete":["*-control"]`:                               "Cache-Control",
		`"delete":["*che*"]`:                                   "Cache-Control",
		`"delete":["X-*","Server"]`:                            "",
		`"add":{"Cache-Control":["public, max-age=60"]}`:       "Cache-Control",
		`"add":{"Cache-Control":["no-transform, private"]}`:    "",
		`"set":{"Expires":["Thu, 01 Jan 2099 00:00:00 GMT"]}`:  "Expires",
		`"set":{"Cache-Control":["no-store"],"Expires":["0"]}`: "",
		`"set":{"Surrogate-Control":["max-age=60"]}`:           "Surrogate-Control",
		`"replace":{"Cache-Control":[{"search_regexp":"no-store","replace":"max-age=60"}]}`: "Cache-Control",
	} {
		if got := deferredEffect(json.RawMessage(`{"handler":"headers","response":{"deferred":true,` + operation + `}}`)).field; got != want {
			t.Errorf("%s: %q, want %q", operation, got, want)
		}
	}
}

func TestDoctorFindsHeadersOfErrors(t *testing.T) {
	const (
		guard    = `{"handler":"gatehouse_guard","rules":[{"public":true,"methods":["*"],"paths":["/*"]}]}`
		vary     = `{"handler":"headers","response":{"set":{"Vary":["Accept"]}}}`
		both     = `{"handler":"headers","response":{"set":{"Vary":["Accept, Authorization"]}}}`
		storable = `{"handler":"headers","response":{"set":{"Cache-Control":["public, max-age=60"]}}}`
		unset    = `{"handler":"headers","response":{"require":{"headers":{"Cache-Control":null}},"set":{"Cache-Control":["public, max-age=60"]}}}`
	)
	status := func(expression, handlers string) string {
		return fmt.Sprintf(`{"handle":[{"handler":"subroute","routes":[{"match":[{"expression":%q}],"handle":[{"handler":"subroute","routes":[{"handle":[%s]}]}]}]}]}`, expression, handlers)
	}
	for name, c := range map[string]struct{ errors, want string }{
		"Vary":                      {`{"handle":[` + vary + `]}`, "Vary"},
		"Vary of some":              {status("{http.error.status_code} in [404]", vary), "Vary"},
		"Vary with Authorization":   {`{"handle":[` + both + `]}`, ""},
		"storable":                  {`{"handle":[` + storable + `]}`, "Cache-Control"},
		"where none is":             {`{"handle":[` + unset + `]}`, ""},
		"storable refusals":         {status("{http.error.status_code} >= 400 && {http.error.status_code} <= 499", storable), "Cache-Control"},
		"missing pages":             {status("{http.error.status_code} in [404, 410]", storable), ""},
		"an expression of the path": {status("{http.request.uri.path} == '/x' && {http.error.status_code} == 404", storable), "Cache-Control"},
		"other paths":               {`{"match":[{"path":["/assets/*"]}],"handle":[` + storable + `]}`, ""},
		"other paths, rewritten":    {`{"handle":[{"handler":"rewrite","uri":"/e.html"}]},{"match":[{"path":["/assets/*"]}],"handle":[` + storable + `]}`, "Cache-Control"},
		"another host":              {`{"match":[{"host":["www.example"]}],"handle":[` + vary + `]}`, ""},
		"this host":                 {`{"match":[{"host":["*.example"]}],"handle":[` + vary + `]}`, "Vary"},
		"in a named route":          {`{"handle":[{"handler":"invoke","name":"vary"}]}`, "Vary"},
	} {
		text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],"named_routes":{"vary":{"handle":[%s]}},
			"routes":[{"match":[{"host":["api.example"]}],"terminal":true,"handle":[{"handler":"subroute","routes":[{"match":[{"path":["/api/*"]}],"handle":[{"handler":"rewrite","strip_path_prefix":"/api"},%s]}]}]}],
			"errors":{"routes":[%s]}}}}}}`, vary, guard, c.errors)
		read, err := explain.ReadConfiguration([]byte(text))
		if err != nil {
			t.Fatal(err, text)
		}
		got := ""
		for _, f := range Examine(read) {
			got = f.Message
		}
		if (got != "") != (c.want != "") || !strings.Contains(got, c.want) || got != "" && !strings.Contains(got, "a header in `handle_errors` of the site api.example") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
