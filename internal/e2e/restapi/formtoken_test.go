package restapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestFormWithAccessTokenIsRefused(t *testing.T) { // N15
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [
		{"path": "kept", "idempotency": true, "routes": [{"method": "POST", "path": "/kept", "upstream": "/kept.php"}]},
		{"path": "forms", "routes": [{"method": "POST", "path": "/forms", "upstream": "/forms.php", "as": "form"}]},
		{"path": "parts", "routes": [{"method": "POST", "path": "/parts", "upstream": "/parts.php", "as": "multipart"}]},
		{"path": "renamed", "rename": {"secret": "access_token"}, "routes": [{"method": "POST", "path": "/renamed", "upstream": "/renamed.php", "as": "form"}]},
		{"path": "plain", "routes": [{"method": "POST", "path": "/plain", "upstream": "/plain.php", "as": "json"}]}]`)
	const form, multi = "application/x-www-form-urlencoded", "multipart/form-data; boundary=B"
	part := func(name string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\nx\r\n--B--\r\n"
	}
	for name, c := range map[string][2]string{ // forms of which upstreams make different things
		"two boundaries":  {"multipart/form-data; xboundary=A; boundary=B", part("b")},
		"another kind":    {multi, strings.Replace(part("access_token"), "form-data; name=\"acc", "x; name=\"acc", 1)},
		"two names":       {multi, strings.Replace(part("b"), `name="b"`, `name="b"; name="access_token"`, 1)},
		"an encoded name": {multi, strings.Replace(part("access_token"), `name="access_token"`, `name="access_token"; name*=UTF-8''b`, 1)},
		"two lines":       {multi, strings.Replace(part("access_token"), "Content-Disposition", "Content-Disposition: form-data; name=\"b\"\r\nContent-Disposition", 2)},
		"no name":         {multi, strings.Replace(part("b"), `; name="b"`, "", 1)},
		// PHP, tried with 8.2, finds access_token in each of these. The gateway did not.
		"a boundary behind a line feed": {multi, "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\n--B\nContent-Disposition: form-data; name=\"access_token\"\n\nx\r\n--B--\r\n"},
		"parts behind the last one":     {multi, part("b") + part("access_token")},
		"a boundary with an escape":     {`multipart/form-data; boundary="a\"b"`, strings.ReplaceAll(part("access_token"), "--B", `--a\`) + strings.ReplaceAll(part("b"), "--B", `--a"b`)},
		"a name in single quotes":       {multi, strings.Replace(part("access_token"), `"access_token"`, `'access_token'`, 1)},
		"single around double quotes":   {multi, strings.Replace(part("access_token"), `name="access_token"`, `name="b"; x='; y="'; name=access_token; z="`, 1)},
		"two backslashes":               {multi, strings.Replace(part("access_token"), `name="access_token"`, `name="b"; x="\\"; y="; name=access_token; z="`, 1)},
		// Others do so.
		"a boundary behind a carriage return": {multi, "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r--B\rContent-Disposition: form-data; name=\"access_token\"\r\rx\r\n--B--\r\n"},
		"an escape in the name":               {multi, part(`access\_token`)},
		"an encoded word":                     {multi, part("=?utf-8?Q?access=5Ftoken?=")},
		"an encoded boundary":                 {"multipart/form-data; boundary*=UTF-8''B", part("b")},
		// Rack 2.2 finds access_token in each of these.
		"a name behind a name": {multi, strings.Replace(part("b"), `name="b"`, `name="b"; filename="x; name=access_token"`, 1)},
		"another field":        {multi, strings.Replace(part("b"), "Content-D", "X-Content-Disposition: form-data; name=\"access_token\"\r\nContent-D", 1)},
		"within a field":       {multi, strings.Replace(part("b"), "Content-D", "X: Content-Disposition: form-data; name=\"access_token\"\r\nContent-D", 1)},
		"behind a blank line":  {multi, strings.Replace(part("b"), `name="a"`, "name=\"a\"; x=y\n\n; name=access_token", 1)},
		"a Content-ID":         {multi, strings.Replace(part("b"), `name="b"`, "x=\":\"; name=\"b\"\r\nContent-ID: access_token", 1)},
		"mixed":                {"multipart/mixed; boundary=B", strings.Replace(part("b"), `name="b"`, `name="b"; x="; name=access_token"`, 1)},
		"a blank in front":     {multi, strings.Replace(part("b"), `name="b"`, "name=\"b\"\r\nX: y\r\n Content-Disposition: form-data; name=\"access_token\"", 1)}, // Django 3.2
		"a blank before colon": {multi, strings.Replace(part("b"), "Content-D", "Content-Disposition : form-data; name=\"access_token\"\r\nContent-D", 1)},         // werkzeug 2.2
		// Node's formidable 3.5 finds it in these.
		"a name at an end of another": {multi, strings.Replace(part("b"), `name="b"`, `x-name="access_token"; name="b"`, 1)},
		"a name in a file's":          {multi, strings.Replace(part("b"), `name="b"`, `filename="x-name=access_token"; name="b"`, 1)},
		"two kinds":                   {"multipart/form-data; boundary=B; x=urlencoded", part("b")},
		"no end":                      {multi, strings.TrimSuffix(part("b"), "--B--\r\n")},
		"quotes around a name":        {multi, strings.Replace(part("b"), `name="b"`, "x='; filename*=utf-8''b; name=access_token; y='; name=b", 1)},
		"EBCDIC":                      {form + "; charset=ibm037", "%81%83%83%85%A2%A2m%A3%96%92%85%95=x"},
		"UTF-7":                       {form + "; charset=\"UTF-7\"", "access%2BAF8-token=x"},
		"two charsets":                {form + `; x="; charset=ibm037"; charset=utf-8`, "%81%83%83%85%A2%A2m%A3%96%92%85%95=x"},
		"parts in EBCDIC":             {multi + "; charset=ibm037", part("\x81\x83\x83\x85\xa2\xa2m\xa3\x96\x92\x85\x95")},
	} {
		p := r.do("writer", http.MethodPost, "/kept", c[1], "Content-Type", c[0], "Idempotency-Key", strings.ReplaceAll(name, " ", "-"))
		if hits := len(u.Hits()); p.Status != http.StatusBadRequest || hits != 0 {
			t.Errorf("%s: %d %s, %d arrived", name, p.Status, p.Body, hits)
		}
	}
	key := 0
	for _, c := range []struct {
		path, label, body string
		refused           bool
	}{
		{"/kept", form, "access_token=x", true},
		{"/kept", form, "a=1&access_token=x", true},
		{"/kept", form, "a=1&[access_token]=x", true},
		{"/kept", form, "a=1&access_token]=x", true},
		{"/kept", form, "a=1&access%5Ftoken=x", true},
		{"/kept", form, "%61%63cess_token", true},
		{"/kept", form, "access_token[]=x", true},
		{"/kept", "Application/X-WWW-Form-URLencoded; charset=utf-8", "ACCESS_TOKEN=x", true},
		{"/kept", form, "a=access_token&my_access_token=1&access_tokens=2", false},
		{"/kept", multi, part("access_token"), true},
		{"/kept", multi, part("Access_Token[0]"), true},
		{"/kept", multi, part("access_tokens"), false},
		{"/kept", multi + "; charset=GBK", "a preamble\r\n" + part("it's") + "an epilogue", false},
		{"/kept", `multipart/form-data; boundary="--B"`, strings.ReplaceAll(part("b"), "--B", "----B"), false},
		{"/kept", multi, strings.ReplaceAll(part("b"), "\r\n", "\n"), false},
		{"/kept", form + "; charset=ISO-8859-1", "a=1", false},
		// What PHP reads as the same: other ends of a type, other spellings of a name.
		{"/kept", form + ", x", "access_token=x", true},
		{"/kept", form + " x", "access_token=x", true},
		{"/kept", form, "access.token=x", true},
		{"/kept", form, "+access+token=x", true},
		{"/kept", multi, part("access.token"), true},
		// Rack, php-fpm behind Caddy and Perl's CGI take a body without a type for a form, and werkzeug another type.
		{"/kept", "", "access_token=x", true},
		{"/kept", "", `{"a":"&access_token=x"}`, true},
		{"/kept", "", "a=1", false},
		{"/kept", form + "-x", "access_token=x", true},
		{"/kept", "application/x-url-encoded", "access_token=x", true},
		// Rack takes these for forms, and calls a part without a name by its file, its id or its type.
		{"/kept", "multipart/mixed; boundary=B", part("access_token"), true},
		{"/kept", "multipart/related; boundary=B", strings.ReplaceAll(part("access_token"), "form-data", "attachment"), true},
		{"/kept", "multipart/related; boundary=B", "--B\r\nContent-ID: access_token\r\n\r\nx\r\n--B--\r\n", true},
		{"/kept", "multipart/related; boundary=B", "--B\r\nContent-Disposition: attachment; filename=access_token\r\n\r\nx\r\n--B--\r\n", true},
		{"/kept", "multipart/related; boundary=B", "--B\r\nContent-Type: text/xml\r\nContent-ID: <a@b>\r\n\r\nx\r\n--B\r\n\r\ny\r\n--B--\r\n", false},
		// Spring takes any of multipart for a form, and Node's formidable whatever has one of these words in it.
		{"/kept", "multipart/alternative; boundary=B", part("access_token"), true},
		{"/kept", "application/x-multipart; boundary=B", part("access_token"), true},
		{"/kept", "text/plain; x=multipart; boundary=B", part("access_token"), true},
		{"/kept", "text/urlencoded", "access_token=x", true},
		{"/kept", "application/json; x=urlencoded", `{"a":"&access_token=x"}`, true},
		// .NET's HttpClient names each file twice.
		{"/kept", multi, strings.Replace(part("b"), `name="b"`, "name=b; filename=b.txt; filename*=utf-8''b.txt", 1), false},
		{"/kept", multi, strings.Replace(part("b"), `name="b"`, "name=b; filename=\"=?utf-8?B?w6QgLnR4dA==?=\"; filename*=utf-8''%C3%A4%20.txt", 1), false},
		{"/kept", multi, strings.Replace(part("access_token"), `name="acc`, "filename*=utf-8''b.txt; name=\"acc", 1), true},
		{"/kept", multi, strings.Replace(part("b"), `name="b"`, "filename=\"b.txt\"; name=\"b\"\r\nContent-Type: text/plain\r\nContent-Length: 1", 1), false},
		{"/forms", "application/json", `{"access.token":"x"}`, true},
		{"/parts", "application/json", `{" access token":"x"}`, true},
		{"/kept", "text/plain", "access_token=x", false},
		{"/kept", "application/json", `{"access_token":"x"}`, false},
		{"/forms", "application/json", `{"a":1,"access_token":"x"}`, true},
		{"/parts", "application/json", `{"access\u005ftoken":"x"}`, true},
		{"/forms", "application/json", `{"a":{"access_token":"x"}}`, false},
		{"/renamed", "application/json", `{"secret":"x"}`, false},
		{"/plain", "application/json", `{"access_token":"x"}`, false},
	} {
		key++
		p := r.do("writer", http.MethodPost, c.path, c.body, "Content-Type", c.label, "Idempotency-Key", fmt.Sprint("k", key))
		hits := len(u.Hits())
		if c.refused {
			e, _ := p.JSON(t)["error"].(map[string]any)
			if p.Status != http.StatusBadRequest || e["code"] != "invalid_request" || e["field"] != "access_token" || hits != 0 {
				t.Errorf("%s %s: %d %s, %d arrived", c.path, c.body, p.Status, p.Body, hits)
			}
		} else if p.Status >= 300 || hits != 1 {
			t.Errorf("%s %s: %d %s, %d arrived", c.path, c.body, p.Status, p.Body, hits)
		}
	}
}
