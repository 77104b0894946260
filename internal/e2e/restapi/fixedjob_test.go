package restapi

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// R11: the body of a job goes on as it is, so it is refused where a parameter of the gateway's own
// is in it, or could be without being seen.
func TestJobBodyCannotContainGatewayParameters(t *testing.T) {
	u := harness.NewUpstream(t)
	u.Answer(says("application/json", `{"t":"session"}`))
	r := start(t, u.Addr, `"upstream": $TO, "fixed": [{"name": "key", "value": "k"}, {"name": "mode", "value": "safe", "in": "body"}, {"name": "api_mode", "value": "safe", "in": "body"}],
		"login": {"steps": [{"method": "POST", "upstream": "/login", "keep": [{"from": "json", "name": "/t", "in": "body", "as": "csrf"}]}]},
		"jobs": [{"path": "imports", "upstream": "/import"}]`)
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	_, _ = z.Write([]byte("mode=x&key=x&" + strings.Repeat("a", 200)))
	_ = z.Close()
	const part = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n"
	for _, c := range []struct {
		name, media, coding, body string
		status                    int
	}{
		{"R11 JSON", "application/json", "", `{"mode":"x"}`, 400},
		{"R11 a form", "application/x-www-form-urlencoded", "", `a=1&key[]=x`, 400},
		{"R11 a bracket that is never closed", "application/x-www-form-urlencoded", "", `a=1&api[mode=x`, 400},
		{"R11 a bracket that is closed behind a NUL", "application/x-www-form-urlencoded", "", `a=1&api[mode%00]=x`, 400},
		{"R11 such a bracket in a multipart form", "multipart/form-data; boundary=B", "", strings.Replace(part, `"a"`, `"api[mode"`, 1), 400},
		{"R11 a bracket that is closed", "application/x-www-form-urlencoded", "", `a=1&api[mode]=x`, 202},
		{"R11 a compressed form", "application/x-www-form-urlencoded", "gzip", compressed.String(), 415},
		{"R11 compressed text", "text/plain", "x-gzip", compressed.String(), 415},
		{"R11 JSON under another type", "text/plain", "", `{"Mode":"x"}`, 400},
		{"R11 JSON with a byte order mark", "text/plain", "", "\ufeff" + `{"mode":"x"}`, 400},
		{"R11 JSON with NaN", "text/plain", "", `{"mode":"x","a":NaN}`, 400}, // Python's
		{"R11 JSON in UTF-16", "text/plain", "", "\xff\xfe{\x00\"\x00m\x00o\x00d\x00e\x00\"\x00:\x001\x00}\x00", 400},
		{"R11 a form under another type", "application/octet-stream", "", "a=%zz&mode=x", 400},
		{"R11 a text in front of the first part", "multipart/form-data; boundary=B", "", "x\r\n" + part, 400},
		{"R11 a name with an escape", "multipart/form-data; boundary=B", "", strings.Replace(part, `"a"`, `"mo\de"`, 1), 400},
		{"R11 a name with an escape behind a file's", "multipart/form-data; boundary=B", "", strings.Replace(part, `name="a"`, `filename="x; name="; name="mo\de"`, 1), 400},
		{"R11 a file's name with a backslash", "multipart/form-data; boundary=B", "", strings.Replace(part, `"a"`, `"a"; filename="C:\x.csv"`, 1), 202},
		{"R12 what is kept of a sign-in", "application/json", "", `{"csrf":"x"}`, 400},
		{"R11 a form with a name of its own", "application/x-www-form-urlencoded", "", `a=mode`, 202},
		{"R11 a type that only some take for multipart", "application/x-multipart; boundary=B", "", strings.Replace(part, `"a"`, `"mode"`, 1), 400},
		{"R11 JSON that some take for a form", "application/json; x=urlencoded", "", `{"a":"&mode=x"}`, 400},
		{"R11 a name at an end of another", "multipart/form-data; boundary=B", "", strings.Replace(part, `name="a"`, `x-name="mode"; name="a"`, 1), 400},
		{"R11 a file as .NET names it", "multipart/form-data; boundary=B", "", strings.Replace(part, `"a"`, `a; filename=a.txt; filename*=utf-8''a.txt`, 1), 202},
		{"R11 a multipart form", "multipart/form-data; boundary=B", "", part, 202},
		{"R11 a multipart form behind an empty line", "multipart/form-data; boundary=B", "", "\r\n" + part, 202},
		{"R11 a table", "text/csv", "", "name,mode\na,b=c\n", 202},
	} {
		header := []string{"Content-Type", c.media}
		if c.coding != "" {
			header = append(header, "Content-Encoding", c.coding)
		}
		if p := r.do("writer", "POST", "/imports", c.body, header...); p.Status != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, p.Status, p.Body, c.status)
		}
	}
}

// R11: nobody looks into a file that a job fetches. As the body it could have what the gateway sends itself.
func TestFetchedFileIsNoBodyWithGatewayParameters(t *testing.T) {
	r := start(t, "127.0.0.1:1", `"upstream": $TO`)
	for _, c := range []struct {
		config string
		wrong  bool
	}{
		{`"fixed": [{"name": "owner", "value": "me", "in": "body"}], "jobs": [{"path": "files", "upstream": "/files", "fetch": {}}]`, true},
		{`"fixed": [{"name": "owner", "value": "me", "in": "body"}], "jobs": [{"path": "files", "upstream": "/files", "fetch": {"part": "f"}}]`, false},
		{`"fixed": [{"name": "owner", "value": "me"}], "jobs": [{"path": "files", "upstream": "/files", "fetch": {}}]`, false},
		{`"fixed": [{"name": "owner", "value": "me", "in": "body", "operations": ["create"]}], "jobs": [{"path": "files", "upstream": "/files", "fetch": {}}]`, false},
	} {
		r.ChangeConfigs(r.with("127.0.0.1:1", `"upstream": $TO, `+c.config))
		err := r.TryLoad(site)
		if c.wrong != (err != nil && strings.Contains(err.Error(), "expected `part`")) || !c.wrong && err != nil {
			t.Errorf("%s: %v", c.config, err)
		}
	}
}

// PHP's $_REQUEST has the form's value of a name that is in the address too: whoever may make a job of /api.php?mod=import could
// have the API do anything else.
func TestFormOfAJobCannotReplaceParametersOfItsAddress(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [
		{"path": "forms", "routes": [{"method": "POST", "path": "/forms", "upstream": "/api.php?mod=add", "as": "form"}]},
		{"path": "streams", "routes": [{"method": "POST", "path": "/streams", "upstream": "/stream.php"}]}],
		"jobs": [{"path": "imports", "upstream": "/api.php?mod=import"}, {"path": "forms", "upstream": "/api.php?act=import", "when": "preferred"},
			{"path": "streams", "upstream": "/api.php?act=import", "when": "preferred"}]`)
	const form, object = "application/x-www-form-urlencoded", "application/json"
	for _, c := range []struct {
		path, media, body string
		status            int
	}{
		{"/imports", form, "mod=drop", 400}, {"/imports", form, "a=mod", 202}, {"/imports", object, `{"mod":"drop"}`, 202},
		{"/forms", object, `{"act":"drop"}`, 400}, {"/forms", object, `{"mod":"drop"}`, 400}, {"/forms", object, `{"a":1}`, 202},
		{"/streams", form, "act=drop", 400}, {"/streams", form, "a=1", 202},
	} {
		if p := r.do("writer", "POST", c.path, c.body, "Content-Type", c.media, "Prefer", "respond-async"); p.Status != c.status {
			t.Errorf("%s %s: %d %s, want %d", c.path, c.body, p.Status, p.Body, c.status)
		}
	}
}
