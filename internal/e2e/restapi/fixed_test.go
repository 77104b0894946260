package restapi

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const fixedSecret = "s3cr3t&=token/1"

// fixed are resources with parameters of the gateway's own; FILE has a secret.
const fixed = `"upstream": $TO, "fixed": [{"name": "key", "value": "{file.FILE}"}, {"name": "X-Api-Key", "value": "{file.FILE}", "in": "header"}], "resources": [
	{"path": "things", "item": "/r", "fixed": [{"name": "token", "value": "{file.FILE}", "in": "body"}, {"name": "mode", "value": "w", "operations": ["update"]}], "routes": [
		{"method": "GET", "path": "/things/{id}", "upstream": "/api.php?id={id}"},
		{"method": "POST", "path": "/things", "upstream": "/api.php?a=add", "as": "form"},
		{"method": "PUT", "path": "/things/{id}", "upstream": "/api.php?id={id}", "as": "multipart"},
		{"method": "PATCH", "path": "/things/{id}", "upstream": "/api.php?id={id}", "as": "json"},
		{"method": "DELETE", "path": "/things/{id}", "upstream": "/api.php?id={id}", "as": "form"}]},
	{"path": "plain"}
]`

func startFixed(t *testing.T, upstream string) *rig {
	t.Helper()
	file := filepath.Join(t.TempDir(), "csrf")
	if err := os.WriteFile(file, []byte(fixedSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, upstream, strings.ReplaceAll(fixed, "FILE", file))
}

func TestGatewaySendsItsOwnParameters(t *testing.T) { // R11
	u := newRecorded(t, says("application/json", `{"r":{"id":1},"id":1}`))
	r := startFixed(t, u.Addr)
	for _, c := range []struct{ name, method, path, body, query, form string }{
		{"R11 a read", "GET", "/things/7", "", "id=7", ""},
		{"R11 a resource without declarations", "GET", "/plain?x=1", "", "x=1", ""},
		{"R11 a form", "POST", "/things", `{"n":1}`, "a=add", "n=1"},
		{"R11 JSON", "PATCH", "/things/7", `{"n":1}`, "id=7&mode=w", `{"token":"` + `s3cr3t\u0026=token/1` + `","n":1}`},
		{"R11 a multipart form", "PUT", "/things/7", `{"n":1}`, "id=7", "n"},
		{"R11 a deletion with a form", "DELETE", "/things/7", "", "id=7", " "},
		{"R11 a batch", "PATCH", "/plain", `[{"id":1,"op":"replace","path":"/a","value":1}]`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := r.do("writer", c.method, c.path, c.body)
			hit, body := u.last(t)
			q, _ := url.ParseQuery(c.query)
			q.Set("key", fixedSecret)
			if p.Status > 299 || hit.URL.Query().Encode() != q.Encode() || strings.Join(hit.Header["X-Api-Key"], ",") != fixedSecret {
				t.Errorf("%d %s, %s %v", p.Status, p.Body, hit.URL.RawQuery, hit.Header)
			}
			switch {
			case strings.HasPrefix(c.form, "{"):
				if body != c.form {
					t.Errorf("%s, want %s", body, c.form)
				}
			case strings.HasPrefix(hit.Header.Get("Content-Type"), "multipart/"):
				if strings.Count(body, fixedSecret) != 1 || strings.Count(body, "form-data; name=") != 2 {
					t.Errorf("%s", body)
				}
			case c.form != "":
				want, _ := url.ParseQuery(strings.TrimSpace(c.form))
				want.Set("token", fixedSecret)
				if got, err := url.ParseQuery(body); err != nil || got.Encode() != want.Encode() || hit.ContentLength != int64(len(body)) {
					t.Errorf("%v %v", got, err)
				}
			}
		})
	}
}

func TestClientCannotSendAGatewayParameter(t *testing.T) { // R11
	u := newRecorded(t, says("application/json", `{"r":{"id":1},"id":1}`))
	r := startFixed(t, u.Addr)
	for _, name := range []string{"key", "Key", "KEY", "key[]", "key[0]", " key", "key ", "[key]", "key\x00", "_key"} {
		for _, c := range []struct{ method, path, body string }{
			{"GET", "/things/7?" + url.QueryEscape(name) + "=x", ""},
			{"GET", "/plain?" + url.QueryEscape(name) + "=x", ""},
			{"GET", "/plain?a=1&" + url.QueryEscape(name) + "=x&" + url.QueryEscape(name) + "=" + url.QueryEscape(fixedSecret), ""},
			{"POST", "/plain?" + url.QueryEscape(name) + "=x", `{}`},
			{"POST", "/things", fmt.Sprintf(`{%q:"x"}`, name)},
			{"PUT", "/things/7", fmt.Sprintf(`{%q:"x"}`, strings.Replace(name, "key", "token", 1))},
			{"PATCH", "/things/7", fmt.Sprintf(`{%q:["x"]}`, name)},
			{"POST", "/things", `{"":{"token":"x"}}`},
			{"POST", "/plain", fmt.Sprintf(`{"\u006b%s":%q}`, strings.TrimPrefix(name, "k"), fixedSecret)},
		} {
			if strings.Contains(c.body, "\\x00") || c.body != "" && strings.HasPrefix(c.body, `{"\u006b`) && !strings.HasPrefix(name, "k") {
				continue
			}
			p := r.do("writer", c.method, c.path, c.body)
			if hits := u.Hits(); p.Status != 400 || len(hits) > 0 || strings.Contains(p.Body, "s3cr3t") {
				t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, p.Status, p.Body)
			}
		}
	}
	// A body that is no JSON object could have it in another form.
	for media, body := range map[string]string{"application/x-www-form-urlencoded": "key=x", "multipart/form-data; boundary=B": "--B\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nx\r\n--B--\r\n", "application/octet-stream": "key=x"} {
		if p := r.do("writer", "POST", "/plain", body, "Content-Type", media); p.Status != 415 || len(u.Hits()) > 0 {
			t.Errorf("%s: %d %s", media, p.Status, p.Body)
		}
	}
	r.do("writer", "GET", "/plain/1", "", "X-Api-Key", "x", "X_Api_Key", "y", "x_api-key", "z", "X~Api!Key", "z")
	if hit, _ := u.last(t); fmt.Sprint(hit.Header["X-Api-Key"], len(hit.Header["X_api_key"]), len(hit.Header["X~api!key"])) != "["+fixedSecret+"] 0 0" {
		t.Errorf("%v", hit.Header)
	}
}

// If a body has a member named after its controller, Rails takes that for the whole body.
func TestGatewayParameterIsNotReplacedInsideAMember(t *testing.T) { // R11
	u := newRecorded(t, says("application/json", `{"id":1}`))
	r := start(t, u.Addr, `"upstream": $TO, "fixed": [{"name": "owner_id", "value": "7", "in": "body"}, {"name": "mode", "value": "x"}], "resources": [
		{"path": "articles"}, {"path": "notes", "wrap": "note"}, {"path": "calls", "routes": [{"method": "POST", "path": "/calls", "upstream": "/rpc", "rpc": {"method": "add", "params": "[{body}]"}}]}],
		"jobs": [{"path": "imports", "upstream": "/import"}]`)
	for _, c := range []struct {
		path, media, body string
		status            int
	}{
		{"/articles", "application/json", `{"article":{"title":"a","owner_id":1}}`, 400},
		{"/articles", "application/json", `{"article":{"title":"a","ownerId":1}}`, 400},
		{"/articles", "application/json", `{"article":{"title":"a","mode":"y"},"tags":[{"owner_id":1}]}`, 201},
		{"/articles?article[owner_id]=1", "application/json", `{"title":"a"}`, 400},
		{"/articles?[article][owner_id]=1", "application/json", `{"title":"a"}`, 400}, // Rack 2 reads these alike
		{"/articles?[article[owner_id]=1", "application/json", `{"title":"a"}`, 400},
		{"/articles?[article]owner_id=1", "application/json", `{"title":"a"}`, 400},
		{"/articles?article]owner_id=1", "application/json", `{"title":"a"}`, 400},
		{"/articles?[article][title]=owner_id", "application/json", `{"title":"a"}`, 201},
		{"/articles?article[title]=1", "application/json", `{"title":"a"}`, 201},
		{"/notes", "application/json", `{"article":{"owner_id":1}}`, 201},
		{"/calls", "application/json", `{"article":{"owner_id":1}}`, 502}, // the API is called
		{"/imports", "application/json", `{"article":{"owner_id":1}}`, 400},
		{"/imports", "application/json", `{"article":{"title":"a","mode":"y"}}`, 202},
		{"/imports", "application/x-www-form-urlencoded", `article[owner_id]=1`, 202}, // of forms Rails takes nothing
	} {
		p := r.do("writer", "POST", c.path, c.body, "Content-Type", c.media)
		if p.Status != c.status || p.Status == 400 && !strings.Contains(p.Body, `"field":"`) {
			t.Errorf("%s %s: %d %s, want %d", c.path, c.body, p.Status, p.Body, c.status)
		}
	}
}

// R11: some upstreams take a trailer for a header field.
func TestClientTrailersAreNotForwarded(t *testing.T) {
	trailers := make(chan http.Header, 1)
	u := harness.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		trailers <- q.Trailer.Clone()
		says("application/json", `{"id":1}`)(w, q)
	})
	r := start(t, u.Addr, `"upstream": $TO, "fixed": [{"name": "X-Api-Key", "value": "k3y", "in": "header"}], "resources": [{"path": "files"}]`)
	pr, pw := io.Pipe()
	req, err := http.NewRequest("POST", r.API+"/files", pr)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token("writer"))
	req.Header.Set("Content-Type", "text/csv")
	req.Trailer = http.Header{"X-Api-Key": {"x"}, "X_api_key": {"x"}, "X-Http-Method-Override": {"DELETE"}, "Cookie": {"sid=1"}}
	go func() {
		_, _ = io.WriteString(pw, "a,b")
		_ = pw.Close()
	}()
	if p := harness.Do(t, harness.NewBrowser(t, "").Client, req); p.Status != 201 {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	if got := <-trailers; len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestGatewaySecretsAreNotExposed(t *testing.T) { // R11
	u := newRecorded(t, says("application/json", `{"r":{"id":1}}`))
	r := startFixed(t, u.Addr)
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		status int
	}{
		{"R11 an error that repeats it", func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(403)
			_, _ = fmt.Fprintf(w, `{"message":"token %s is not valid"}`, strings.ReplaceAll(fixedSecret, "/", `\/`))
		}, 403},
		{"R11 an error that has the form", func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(409)
			_, _ = fmt.Fprintf(w, `{"error":{"code":"conflict","message":"no: %s","field":null}}`, fixedSecret)
		}, 409},
		{"R11 an error that repeats the address", func(w http.ResponseWriter, q *http.Request) {
			http.Error(w, "cannot serve "+q.RequestURI, 404)
		}, 404},
		{"R11 an error that repeats the body that the gateway sends", func(w http.ResponseWriter, q *http.Request) {
			w.WriteHeader(400)
			_, _ = fmt.Fprintf(w, `{"message":"cannot take %s"}`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(`{"token":"s3cr3t\u0026=token/1","n":1}`))
		}, 400},
		{"R11 an error that repeats it shortened", func(w http.ResponseWriter, q *http.Request) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"message":"Field required [input_value={'token': 's3cr3t&=to...n/1', 'n': 1}]"}`)
		}, 400},
		{"R11 an error that repeats it shortened, in HTML", func(w http.ResponseWriter, q *http.Request) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"message":"no such token: s3cr3t&amp;=to&hellip;"}`)
		}, 400},
		{"R11 a redirect to the same address elsewhere", func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, "https://www.example"+q.RequestURI, http.StatusFound)
		}, 502},
		{"R11 a redirect to a resource, whose page repeats the address", func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, strings.Replace(q.RequestURI, "id=7", "id=8", 1), http.StatusFound)
		}, 302},
		{"R11 a redirect that repeats it twice encoded", func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, "https://sso.example/?back="+url.QueryEscape(q.RequestURI), http.StatusFound)
		}, 502},
		{"R11 an address of the content", func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Location", "https://www.example"+q.RequestURI)
			says("application/json", `{"r":{"id":1}}`)(w, q)
		}, 200},
		{"R11 an answer that breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"r":`)
		}, 502},
	} {
		t.Run(c.name, func(t *testing.T) {
			u.Answer(c.answer)
			p := r.do("reader", "GET", "/things/7", "")
			if text := fmt.Sprint(p.Header, p.Body); p.Status != c.status || strings.Contains(text, "s3cr3t") {
				t.Errorf("%d %s", p.Status, text)
			}
		})
	}
	t.Run("R11 an error that is cut where the client wants it", func(t *testing.T) {
		for n := 440; n < 500; n += 3 { // a message has at most 500 characters
			u.Answer(func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(404)
				_, _ = fmt.Fprintf(w, `{"message":"No %s here"}`, strings.Repeat("a", n)+"&token="+url.QueryEscape(fixedSecret))
			})
			if p := r.do("reader", "GET", "/things/7", ""); p.Status != 404 || strings.Contains(p.Body, "s3cr") {
				t.Fatalf("%d %s", p.Status, p.Body)
			}
		}
	})
	t.Run("R11 the configuration keeps the placeholder", func(t *testing.T) {
		config := harness.Wire(t, r.Admin, "GET /config/")
		if config.Status != 200 || !strings.Contains(config.Body, "{file.") || strings.Contains(config.Body, "s3cr3t") {
			t.Errorf("%d", config.Status)
		}
	})
}

// A client whose own text an error repeats must not be able to guess a secret from its beginning: where the error is
// cut, it would see for each letter whether the error is withheld.
func TestSecretCannotBeGuessedFromItsBeginning(t *testing.T) { // R11
	u := newRecorded(t, func(w http.ResponseWriter, q *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprintf(w, `{"message":"no %s"}`, strings.TrimPrefix(q.URL.Path, "/plain/"))
	})
	r := startFixed(t, u.Addr)
	for name, id := range map[string]string{
		"cut by the gateway after the guess": strings.Repeat("x", 496-len("GUESS")) + "GUESS" + strings.Repeat("y", 20),
		"cut by the gateway, with more":      strings.Repeat("x", 400) + "GUESS" + strings.Repeat("y", 100),
		"not cut":                            "xGUESS",
	} {
		for _, guess := range []string{"tosec", "aas3c", "s3cr3", "aaas3"} {
			if p := r.do("writer", "GET", "/plain/"+strings.Replace(id, "GUESS", guess, 1), ""); p.Status != 404 || !strings.Contains(p.Body, `"no x`) {
				t.Errorf("%s: %s: %d %s", name, guess, p.Status, p.Body)
			}
		}
	}
}

func TestRequestIsNotSentWithoutItsSecret(t *testing.T) { // R11
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [{"path": "things", "fixed": [{"name": "key", "value": "{file.`+filepath.Join(t.TempDir(), "none")+`}"}]}]`)
	p := r.do("reader", "GET", "/things/7", "")
	if wantError(t, p, 503, "unavailable", ""); len(u.Hits()) > 0 {
		t.Error("it was sent")
	}
}
