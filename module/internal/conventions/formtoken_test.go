package conventions

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

func TestAFormWithAnAccessTokenIsRefused(t *testing.T) { // N15
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
		{"/kept", form, "a=1&access%5Ftoken=x", true},
		{"/kept", form, "%61%63cess_token", true},
		{"/kept", form, "access_token[]=x", true},
		{"/kept", "Application/X-WWW-Form-URLencoded; charset=utf-8", "ACCESS_TOKEN=x", true},
		{"/kept", form, "a=access_token&my_access_token=1&access_tokens=2", false},
		{"/kept", multi, part("access_token"), true},
		{"/kept", multi, part("Access_Token[0]"), true},
		{"/kept", multi, part("access_tokens"), false},
		// What PHP reads as the same: other ends of a type, other spellings of a name.
		{"/kept", form + ", x", "access_token=x", true},
		{"/kept", form + " x", "access_token=x", true},
		{"/kept", form, "access.token=x", true},
		{"/kept", form, "+access+token=x", true},
		{"/kept", multi, part("access.token"), true},
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
		p := r.do("writer", http.MethodPost, c.path, c.body, "Content-Type", c.label, "Idempotency-Key", "k"+string(rune('a'+key)))
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
