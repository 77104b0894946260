package restapi

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const rpcSecret = `rpc-s3cr3t"<é>`

// callsWithSecrets are calls with secrets of the configuration in their parameters, of JSON-RPC and of XML-RPC.
const callsWithSecrets = `api_rest {
		to ADDR
		openapi
		errors {
			expose
		}
		resource downloads {
			upstream GET    /downloads      /jsonrpc rpc aria2.tellActive ` + "`[\"token:{file.$DIR/secret}\",{query.from|int},{query.n|int}]`" + `
			upstream GET    /downloads/{id} /jsonrpc rpc aria2.tellStatus ` + "`[\"token:{file.$DIR/secret}\",{id}]`" + `
			upstream POST   /downloads      /jsonrpc rpc aria2.addUri ` + "`[\"token:{file.$DIR/secret}\",[{body.uri}],{\"user\":{http.auth.user.id},\"n\":{env.RPC_NUMBER|int}}]`" + `
			upstream PATCH  /downloads/{id} /jsonrpc rpc aria2.changeOption ` + "`[\"token:{env.RPC_SECRET}\",{id},{body}]`" + `
			upstream DELETE /downloads/{id} /jsonrpc rpc aria2.remove ` + "`[\"token:{env.RPC_NOBODY}\",{id}]`" + `
			list {
				send page offset from
				send limit n
			}
			batch dir
			etag
			created 201 /result
		}
		resource pages {
			upstream GET  /pages/{id:.+} /xmlrpc xmlrpc wiki.getPage ` + "`[{env.RPC_SECRET},{id},{env.RPC_NUMBER|int}]`" + `
			upstream POST /pages         /xmlrpc xmlrpc wiki.putPage ` + "`[\"{env.RPC_SECRET}\",{body}]`" + `
		}
		resource people {
			send fixed who={http.auth.user.id} key={env.RPC_SECRET}
			upstream GET  /people/{id:.+} /people/{id}
			upstream POST /people         /people
			created 201 /id
		}
		job downloads {
			upstream POST /jsonrpc
			when preferred
			result /note
		}
	}`

func startWithSecrets(t *testing.T, addr string) (r *rig, logged func() string) {
	t.Helper()
	t.Setenv("RPC_SECRET", rpcSecret)
	t.Setenv("RPC_NUMBER", "4711")
	g := harness.Prepare(t)
	file := filepath.Join(g.Dir, "log")
	text := strings.NewReplacer("respond API_REST", strings.Replace(callsWithSecrets, "ADDR", addr, 1),
		"\tlog {\n\t\toutput discard\n\t}", "\tlog {\n\t\toutput file "+file+"\n\t\tlevel DEBUG\n\t}",
		"\tapi_errors\n", "\tlog\n\tapi_errors\n").Replace(site)
	g.WriteFile(t, "secret", rpcSecret+"\n")
	g.Start(t, text)
	return &rig{g, t, make(map[string]string)}, func() string {
		data, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(data), "/jsonrpc") {
			t.Fatalf("the log has %d bytes: %v", len(data), err)
		}
		return string(data)
	}
}

// R14: the parameters of a call have secrets of the configuration, and no client ever sees one.
func TestCallParametersHideSecrets(t *testing.T) {
	var media, answer string
	status := 200
	u := newRecorded(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, answer)
	})
	r, logged := startWithSecrets(t, u.Addr)
	const (
		escaped  = `rpc-s3cr3t\"<\u00e9>`
		echoed   = `{"jsonrpc":"2.0","result":{"gid":"7","note":"got token:rpc-s3cr3t\"<é>, rpc-s3cr3t\u0022\u003c\u00e9>"},"id":1}`
		masked   = `{"gid":"7","note":"got ***, ***"}`
		inXML    = `rpc-s3cr3t&#34;&#60;&#233;&#62;`
		badToken = `{"jsonrpc":"2.0","error":{"code":1,"message":"token:rpc-s3cr3t\"<é> is not valid"},"id":1}`
		gone     = `{"error":{"code":"validation_failed","message":"the content of the request is not valid","field":null}}`
		placed   = `{env.RPC_SECRET} \u0000dG9rZW46e2Vudi5SUENfU0VDUkVUfQ\u0000`
	)
	ok := func(result string) string { return `{"jsonrpc":"2.0","result":` + result + `,"id":1}` }
	call := func(method, params string) string {
		return `{"jsonrpc":"2.0","method":"` + method + `","params":[` + params + `],"id":1}`
	}
	xmlCall := func(method, params string) string {
		return `<?xml version="1.0"?><methodCall><methodName>` + method + `</methodName><params>` + params + `</params></methodCall>`
	}
	xmlAnswer := func(text string) string {
		return `<methodResponse><params><param><value><struct><member><name>name</name><value>` + text + `</value></member></struct></value></param></params></methodResponse>`
	}
	for _, c := range []struct {
		name, method, path, body string
		call, answer             string
		status                   int
		want                     string
	}{
		{"a list", "GET", "/downloads?page=2&limit=1", "", call("aria2.tellActive", `"token:`+escaped+`",1,1`), ok(`[{"gid":"7"}]`), 200, `{"data":[{"gid":"7"}],"pagination":{"total":null,"page":2,"limit":1,"total_pages":null}}`},
		{"an item", "GET", "/downloads/7", "", call("aria2.tellStatus", `"token:`+escaped+`","7"`), ok(`{"gid":"7"}`), 200, `{"gid":"7"}`},
		{"the caller's id and a number", "POST", "/downloads", `{"uri":"http://x/"}`, call("aria2.addUri", `"token:`+escaped+`",["http://x/"],{"user":"client:writer","n":4711}`), ok(`"9f"`), 201, `{"result":"9f"}`},
		{"a client's placeholder", "PATCH", "/downloads/7", `{"dir":"` + placed + `"}`, call("aria2.changeOption", `"token:`+escaped+`","7",{"dir":"`+placed+`"}`), ok(`"OK"`), 200, `{"result":"OK"}`},
		{"a batch", "PATCH", "/downloads", `[{"id":"7","op":"replace","path":"/dir","value":"{env.RPC_SECRET}"}]`, call("aria2.changeOption", `"token:`+escaped+`","7",{"dir":"{env.RPC_SECRET}"}`), ok(`{"gid":"7"}`), 200,
			`{"data":[{"id":"7","status":200,"data":{"gid":"7"}}]}`},
		{"an answer that repeats it", "GET", "/downloads/7", "", "", echoed, 200, masked},
		{"an error that repeats it", "GET", "/downloads/7", "", "", badToken, 422, gone},
		{"a refused write that repeats it", "PATCH", "/downloads/7", `{"dir":"x"}`, "", badToken, 422, gone},
		{"an error that is cut in it", "GET", "/downloads/7", "", "", strings.Replace(badToken, "token:", "no"+strings.Repeat(" ", 16<<10-len("notoken:rpc-s3c"))+"token:", 1), 422, gone},
		{"what is no answer and repeats it", "GET", "/downloads/7", "", "", `"` + escaped + `"`, 502, notRead},
		{"XML-RPC", "GET", "/pages/7", "", xmlCall("wiki.getPage", `<param><value><string>`+inXML+`</string></value></param><param><value><string>7</string></value></param><param><value><int>4711</int></value></param>`), xmlAnswer("Maps"), 200, `{"name":"Maps"}`},
		{"a client's placeholder in XML-RPC", "GET", "/pages/%7Benv.RPC_SECRET%7D", "", xmlCall("wiki.getPage", `<param><value><string>`+inXML+`</string></value></param><param><value><string>{env.RPC_SECRET}</string></value></param><param><value><int>4711</int></value></param>`), xmlAnswer(inXML), 200, `{"name":"***"}`},
		{"a fault in XML-RPC that repeats it", "POST", "/pages", `{"name":"x"}`, xmlCall("wiki.putPage", `<param><value><string>`+inXML+`</string></value></param><param><value><struct><member><name>name</name><value><string>x</string></value></member></struct></value></param>`),
			`<methodResponse><fault><value><struct><member><name>faultCode</name><value><int>4</int></value></member><member><name>faultString</name><value>no: ` + inXML + `</value></member></struct></value></fault></methodResponse>`, 422, gone},
	} {
		t.Run("R14 "+c.name, func(t *testing.T) {
			media, answer = "application/json-rpc", c.answer
			if strings.HasPrefix(c.answer, "<") {
				media = "text/xml"
			}
			p := r.do("writer", c.method, c.path, c.body)
			_, sent := u.last(t)
			if p.Status != c.status || strings.TrimSpace(p.Body) != c.want || strings.Contains(fmt.Sprint(p.Header), "s3cr3t") {
				t.Errorf("%d %v %s, want %s", p.Status, p.Header, p.Body, c.want)
			}
			if c.call != "" && sent != c.call {
				t.Errorf("%s, want %s", sent, c.call)
			}
		})
	}
	media = "application/json"
	t.Run("R14 without the secret nothing is sent", func(t *testing.T) {
		u.Hits()
		if wantError(t, r.do("writer", "DELETE", "/downloads/7", ""), 503, "unavailable", ""); len(u.Hits()) > 0 {
			t.Error("it was sent")
		}
		if !strings.Contains(logged(), "RPC_NOBODY") {
			t.Error("the log does not name the placeholder")
		}
	})
	t.Run("R14 a job", func(t *testing.T) {
		answer = ok(`{"gid":"9f","note":"` + escaped + `"}`)
		p := r.do("writer", "POST", "/downloads", `{"uri":"{env.RPC_SECRET}"}`, "Prefer", "wait=30")
		if _, sent := u.last(t); sent != call("aria2.addUri", `"token:`+escaped+`",["{env.RPC_SECRET}"],{"user":"client:writer","n":4711}`) {
			t.Errorf("%s", sent)
		}
		if p.Status != 200 || !strings.Contains(p.Body, `"succeeded"`) || !strings.Contains(p.Body, `"result":"***"`) {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	})
	t.Run("R14 a proxy that cannot read the answer", func(t *testing.T) {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = fmt.Fprint(w, `{"result":`)
		})
		wantError(t, r.do("reader", "GET", "/downloads/7", ""), 502, "upstream_error", "")
	})
	t.Run("R14 it is shown nowhere", func(t *testing.T) {
		config := harness.Wire(t, r.Admin, "GET /config/")
		if config.Status != 200 || !strings.Contains(config.Body, "{env.RPC_SECRET}") || strings.Contains(config.Body, "s3cr3t") {
			t.Errorf("the configuration: %d", config.Status)
		}
		for what, text := range map[string]string{"the log": logged(), "the description": r.do("reader", "GET", "/openapi.json", "").Body, "the metrics": r.Scrape(t)} {
			if text == "" || strings.Contains(text, "s3cr3t") {
				t.Errorf("%s has the secret, or nothing", what)
			}
		}
		if db, err := os.ReadFile(filepath.Join(r.Dir, "state.db")); err != nil || strings.Contains(string(db), "s3cr3t") || len(db) == 0 {
			t.Errorf("the store has the secret: %v", err)
		}
	})
}

// R14: what says who calls is no secret from the caller, and stands in answers where it belongs. A secret
// is one without the text around it, too.
func TestCallerIdentityIsNotMaskedAsASecret(t *testing.T) {
	u := harness.NewUpstream(t)
	r, _ := startWithSecrets(t, u.Addr)
	answers := func(status int, header, text string) {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if header != "" {
				w.Header().Set("Location", header)
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, text)
		})
	}
	answers(201, "/people/client:writer", `{"id":"client:writer"}`)
	if p := r.do("writer", "POST", "/people", `{"n":1}`); p.Status != 201 || p.Header.Get("Location") != "/people/client:writer" || !strings.Contains(p.Body, `"client:writer"`) {
		t.Errorf("a creation: %d %v %s", p.Status, p.Header, p.Body)
	}
	answers(409, "", `{"message":"client:writer has that already"}`)
	if p := r.do("writer", "GET", "/people/1", ""); p.Status != 409 || !strings.Contains(p.Body, "client:writer has that already") {
		t.Errorf("an error: %d %s", p.Status, p.Body)
	}
	answers(302, "/people/client:writer", "")
	if p := r.do("writer", "GET", "/people/1", ""); p.Status != 302 || p.Header.Get("Location") != "/people/client:writer" {
		t.Errorf("a redirect: %d %v", p.Status, p.Header)
	}
	answers(409, "", `{"message":"client:writer: rpc-s3cr3t\"<é> is wrong"}`)
	if p := r.do("writer", "GET", "/people/1", ""); p.Status != 409 || strings.Contains(p.Body, "s3cr3t") {
		t.Errorf("an error with the secret: %d %s", p.Status, p.Body)
	}
	t.Run("in a call", func(t *testing.T) {
		answers(200, "", `{"error":{"code":12,"message":"client:writer may not"},"id":1}`)
		if p := r.do("writer", "POST", "/downloads", `{"uri":"x"}`); p.Status != 422 || !strings.Contains(p.Body, "client:writer may not") {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		answers(200, "", `{"result":{"gid":"1","user":"client:writer"},"id":1}`)
		if p := r.do("writer", "POST", "/downloads", `{"uri":"x"}`); p.Status != 201 || !strings.Contains(p.Body, `"user":"client:writer"`) {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	})
}
