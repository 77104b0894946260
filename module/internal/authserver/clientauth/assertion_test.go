package clientauth

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// FuzzAssertionForm: whatever a form says, it names one client and one way, or none.
func FuzzAssertionForm(f *testing.F) {
	payload := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"a","sub":"a"}`))
	f.Add("", "", assertionType, "e30."+payload+".AA", "")
	f.Add("a", "", assertionType, "e30."+payload+".AA", "")
	f.Add("b", "s", "x", "..", "Basic YTpi")
	f.Add("b", "", "", "", "Bearer x")
	f.Fuzz(func(t *testing.T, id, secret, kind, assertion, header string) {
		v := url.Values{"client_id": {id}, "client_secret": {secret}, "client_assertion_type": {kind}, "client_assertion": {assertion}}
		form, err := httpx.ParseForm(v.Encode())
		if err != nil {
			return
		}
		r := &http.Request{Header: http.Header{}}
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		sent, refused := readCredentials(r, form)
		if refused != nil {
			if code := errorCode(refused); code != oauth.InvalidClient && code != oauth.InvalidRequest {
				t.Fatal(refused)
			}
			return
		}
		asserts := assertion != "" || kind != ""
		switch {
		case len(sent.pairs) == 0 || sent.pairs[0].id == "":
			t.Fatalf("no client: %+v", sent)
		case asserts != (sent.assertion != ""), asserts && (header != "" || secret != "" || kind != assertionType):
			t.Fatalf("two ways at once: %+v", sent)
		case id != "" && sent.pairs[0].id != id:
			t.Fatalf("the client %q became %q", id, sent.pairs[0].id)
		case asserts && (len(sent.pairs) != 1 || sent.pairs[0].secret != ""):
			t.Fatalf("%+v", sent)
		}
	})
}
