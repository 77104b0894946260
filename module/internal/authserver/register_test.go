package authserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/authserver/registration"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const initialToken = "initial-token-0123456789-0123456789"

// bothClients finds those of the rig and those that registered themselves.
type bothClients struct {
	*rigClients
	stored *clientstore.Clients
}

func (c bothClients) Client(ctx context.Context, id string) (*oauth.Client, bool, error) {
	if found, ok, err := c.rigClients.Client(ctx, id); ok || err != nil {
		return found, ok, err
	}
	return c.stored.Client(ctx, id)
}

// registerRig is a rig where clients may register themselves.
type registerRig struct {
	*tokenRig
	stored *clientstore.Clients
	events *trail
}

func newRegisterRig(t *testing.T, change ...func(*authserver.Config)) *registerRig {
	t.Helper()
	r := &registerRig{events: &trail{}}
	r.tokenRig = newBrowserRig(t, append([]func(*authserver.Config){func(c *authserver.Config) {
		var err error
		r.stored, err = clientstore.New(clientstore.Config{
			Store: c.Store, Revocations: c.Revocations, Now: c.Now, Scopes: []string{"read", "write", "inner", "openid", "profile"},
		})
		if err != nil {
			t.Fatal(err)
		}
		rigs, ok := c.Clients.(*rigClients)
		if !ok {
			t.Fatalf("the rig's clients are %T", c.Clients)
		}
		c.Clients, c.Registrar, c.Audit = bothClients{rigs, r.stored}, r.stored, r.events
		c.Registration = &registration.Rules{
			InitialTokens: []string{secret.Digest("another-initial-token"), secret.Digest(initialToken)}, Scopes: []string{"read", "write", "openid"}, Max: 50,
		}
	}}, change...)...)
	return r
}

// meta is a body of JSON.
type meta map[string]any

func newMeta(changes ...any) meta {
	m := meta{"redirect_uris": []string{"https://self.example/cb"}, "client_name": "Self"}
	for i := 0; i+1 < len(changes); i += 2 {
		if name, ok := changes[i].(string); ok {
			m[name] = changes[i+1]
		}
	}
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
	return m
}

// registrationAnswer is what came back, with the members that a test looks at.
type registrationAnswer struct {
	answer
	m meta
}

func (a registrationAnswer) text(name string) string { s, _ := a.m[name].(string); return s }

func (r *registerRig) send(method, target, token string, body any) registrationAnswer {
	raw, ok := body.(string)
	if !ok && body != nil {
		raw = string(must(json.Marshal(body)))
	}
	header := []string{"Content-Type", "application/json"}
	if token != "" {
		header = append(header, "Authorization", "Bearer "+token)
	}
	a := registrationAnswer{answer: r.do(method, target, raw, header...)}
	_ = json.Unmarshal([]byte(a.body), &a.m)
	return a
}

func (r *registerRig) post(body any) registrationAnswer {
	return r.send(http.MethodPost, tokenIssuer+"/register", initialToken, body)
}

func (r *registerRig) made(body any) registrationAnswer {
	r.t.Helper()
	a := r.post(body)
	r.want(a.answer, http.StatusCreated, "")
	return a
}

func TestRegistrationDefaults(t *testing.T) {
	r := newRegisterRig(t)
	a := r.made(newMeta("client_name", nil))
	want := fmt.Sprintf(`{"application_type":"web","client_id":%q,"client_id_issued_at":1900000000,"client_secret":%q,"client_secret_expires_at":0,`+
		`"grant_types":["authorization_code"],"redirect_uris":["https://self.example/cb"],"registration_access_token":%q,`+
		`"registration_client_uri":%q,"response_types":["code"],"scope":"read write openid","token_endpoint_auth_method":"client_secret_basic"}`,
		a.text("client_id"), a.text("client_secret"), a.text("registration_access_token"), tokenIssuer+"/register/"+a.text("client_id"))
	if got := must(json.Marshal(a.m)); !bytes.Equal(got, []byte(want)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(a.text("client_secret")) != 43 || len(a.text("registration_access_token")) != 43 || strings.Contains(r.log.String(), a.text("client_secret")) {
		t.Errorf("the secrets: %s", a.body)
	}
}

func TestRegistrationMetadata(t *testing.T) {
	r := newRegisterRig(t)
	pair := newKeyPair()
	var keys any
	r.must(json.Unmarshal([]byte(pair.jwks()), &keys))
	for name, c := range map[string]struct {
		m    meta
		want map[string]string
	}{
		"a public client":           {newMeta("token_endpoint_auth_method", "none"), map[string]string{"token_endpoint_auth_method": "none", "client_secret": ""}},
		"a secret in the body":      {newMeta("token_endpoint_auth_method", "client_secret_post"), map[string]string{"token_endpoint_auth_method": "client_secret_post"}},
		"keys":                      {newMeta("token_endpoint_auth_method", "private_key_jwt", "jwks", keys), map[string]string{"token_endpoint_auth_method": "private_key_jwt", "client_secret": ""}},
		"a native client":           {newMeta("application_type", "native", "redirect_uris", []string{"com.example.app:/cb", "http://127.0.0.1/cb"}), map[string]string{"application_type": "native"}},
		"refresh tokens":            {newMeta("grant_types", []string{"refresh_token", "authorization_code", "refresh_token"}), map[string]string{}},
		"fewer scopes":              {newMeta("scope", "write"), map[string]string{"scope": "write"}},
		"a scope above the ceiling": {newMeta("scope", "inner read admin"), map[string]string{"scope": "read"}},
		"a name in Chinese":         {newMeta("client_name", "阅读器"), map[string]string{"client_name": "阅读器"}},
		"a name in Persian":         {newMeta("client_name", "می\u200cخواهم"), map[string]string{"client_name": "می\u200cخواهم"}},
		"addresses not fetched":     {newMeta("logo_uri", "https://canary.example/l", "policy_uri", "http://canary.example/p", "tos_uri", 7, "client_uri", "x", "sector_identifier_uri", "https://canary.example/s"), map[string]string{"logo_uri": ""}},
		"what we do not know":       {newMeta("require_signed_request_object", true, "contacts", []string{"a@b"}, "software_statement", "x.y.z", "Scope", "admin", "REDIRECT_URIS", []string{"x"}), map[string]string{"scope": "read write openid"}},
		"nulls":                     {meta{"redirect_uris": []string{"https://self.example/cb"}, "client_name": json.RawMessage("null"), "jwks_uri": json.RawMessage("null"), "scope": json.RawMessage("null")}, map[string]string{"client_name": ""}},
		"an id_token algorithm":     {newMeta("id_token_signed_response_alg", "ES256"), map[string]string{"id_token_signed_response_alg": "ES256"}},
		"a way back":                {newMeta("post_logout_redirect_uris", []string{"https://self.example/out"}), map[string]string{}},
	} {
		a := r.post(c.m)
		if a.status != http.StatusCreated {
			t.Errorf("%s: %d %s", name, a.status, a.body)
			continue
		}
		for member, want := range c.want {
			if a.text(member) != want {
				t.Errorf("%s: %s is %q, want %q", name, member, a.text(member), want)
			}
		}
	}
}

// RFC 7591 section 2: the server may replace what it does not offer, and says what it
// registered. It never registers what was not asked for.
func TestRegistrationIsReducedToSupportedValues(t *testing.T) {
	r := newRegisterRig(t)
	for name, c := range map[string]struct {
		m     meta
		grant string
	}{
		"client_credentials": {newMeta("grant_types", []string{"authorization_code", "client_credentials"}), "[authorization_code]"},
		"password":           {newMeta("grant_types", []string{"password", "authorization_code", "refresh_token"}), "[authorization_code refresh_token]"},
		"implicit":           {newMeta("grant_types", []string{"authorization_code", "implicit"}, "response_types", []string{"token", "code"}), "[authorization_code]"},
		"unknown ones":       {newMeta("grant_types", []string{"authorization_code", "x", ""}), "[authorization_code]"},
		"a device":           {newMeta("grant_types", []string{"authorization_code", "urn:ietf:params:oauth:grant-type:device_code"}), "[authorization_code]"},
	} {
		a := r.made(c.m)
		if got := fmt.Sprint(a.m["grant_types"], a.m["response_types"]); got != c.grant+"[code]" && got != c.grant+" [code]" {
			t.Errorf("%s: %s", name, got)
		}
		stored, ok, err := r.stored.Client(t.Context(), a.text("client_id"))
		if err != nil || !ok || fmt.Sprint(stored.Grants) != c.grant {
			t.Errorf("%s: stored as %v %v", name, stored, err)
		}
	}
	a := r.made(newMeta("scope", "write inner profile"))
	stored, _, err := r.stored.Client(t.Context(), a.text("client_id"))
	if err != nil || a.text("scope") != "write" || fmt.Sprint(stored.Scopes) != "[write offline_access]" {
		t.Errorf("%s, stored as %v %v", a.text("scope"), stored, err)
	}
	a = r.send(http.MethodPut, a.text("registration_client_uri"), a.text("registration_access_token"), newMeta("client_id", a.text("client_id"), "scope", "inner read"))
	if a.status != http.StatusOK || a.text("scope") != "read" {
		t.Errorf("an update: %d %s", a.status, a.body)
	}
}

// A client that can refresh may request offline_access, whatever scopes registered clients may have at most, and reads so.
func TestRegistrationNamesOfflineAccess(t *testing.T) {
	r := newRegisterRig(t)
	refreshing := []string{"authorization_code", "refresh_token"}
	for _, c := range []struct {
		asked  string
		grants []string
		want   string
	}{
		{"openid offline_access", refreshing, "openid offline_access"},
		{"read", refreshing, "read offline_access"},
		{"", refreshing, "read write openid offline_access"},
		{"openid offline_access", refreshing[:1], "openid"},
		{"", refreshing[:1], "read write openid"},
	} {
		a := r.made(newMeta("scope", c.asked, "grant_types", c.grants))
		uri, access := a.text("registration_client_uri"), a.text("registration_access_token")
		shown := r.send(http.MethodGet, uri, access, "")
		again := r.send(http.MethodPut, uri, access, newMeta("client_id", a.text("client_id"), "scope", a.text("scope"), "grant_types", c.grants))
		for _, got := range []string{a.text("scope"), shown.text("scope"), again.text("scope")} {
			if got != c.want {
				t.Errorf("%q with %v: %q, want %q", c.asked, c.grants, got, c.want)
			}
		}
	}
	if a := r.post(newMeta("scope", "offline_access", "grant_types", refreshing)); a.status != http.StatusBadRequest {
		t.Errorf("offline_access alone: %d %s", a.status, a.body)
	}
}

func TestInvalidRegistrations(t *testing.T) {
	r := newRegisterRig(t)
	for name, c := range map[string]struct {
		body   any
		status int
		code   string
	}{
		"no JSON":                     {"x", 400, "invalid_client_metadata"},
		"a list":                      {"[]", 400, "invalid_client_metadata"},
		"null":                        {"null", 400, "invalid_client_metadata"},
		"no UTF-8":                    {"{\"client_name\":\"\xff\"}", 400, "invalid_client_metadata"},
		"too large":                   {newMeta("x", strings.Repeat("x", 65<<10)), 413, "invalid_client_metadata"},
		"no redirect_uris":            {newMeta("redirect_uris", nil), 400, "invalid_redirect_uri"},
		"none of them":                {newMeta("redirect_uris", []string{}), 400, "invalid_redirect_uri"},
		"a text instead of a list":    {newMeta("redirect_uris", "https://self.example/cb"), 400, "invalid_client_metadata"},
		"plain http":                  {newMeta("redirect_uris", []string{"http://self.example/cb"}), 400, "invalid_redirect_uri"},
		"a fragment":                  {newMeta("redirect_uris", []string{"https://self.example/cb#x"}), 400, "invalid_redirect_uri"},
		"a script":                    {newMeta("redirect_uris", []string{"javascript:alert(1)"}), 400, "invalid_redirect_uri"},
		"a wildcard":                  {newMeta("redirect_uris", []string{"https://*.example/"}), 400, "invalid_redirect_uri"},
		"an app's scheme for the web": {newMeta("redirect_uris", []string{"com.example.app:/cb"}), 400, "invalid_redirect_uri"},
		"one of them bad":             {newMeta("redirect_uris", []string{"https://self.example/cb", "x"}), 400, "invalid_redirect_uri"},
		"one twice":                   {newMeta("redirect_uris", []string{"https://self.example/cb", "https://self.example/cb"}), 400, "invalid_redirect_uri"},
		"21 of them":                  {newMeta("redirect_uris", many("https://self.example/", 21)), 400, "invalid_redirect_uri"},
		"a bad way back":              {newMeta("post_logout_redirect_uris", []string{"x"}), 400, "invalid_client_metadata"},
		"scopes above it alone":       {newMeta("scope", "inner admin"), 400, "invalid_client_metadata"},
		"a built-in scope above it":   {newMeta("scope", "profile"), 400, "invalid_client_metadata"},
		"an undeclared scope":         {newMeta("scope", "admin"), 400, "invalid_client_metadata"},
		"a malformed scope":           {newMeta("scope", `a"b`), 400, "invalid_client_metadata"},
		"client_credentials alone":    {newMeta("grant_types", []string{"client_credentials"}), 400, "invalid_client_metadata"},
		"password alone":              {newMeta("grant_types", []string{"password", "refresh_token"}), 400, "invalid_client_metadata"},
		"refresh alone":               {newMeta("grant_types", []string{"refresh_token"}), 400, "invalid_client_metadata"},
		"response_type token alone":   {newMeta("response_types", []string{"token"}), 400, "invalid_client_metadata"},
		"an unknown method":           {newMeta("token_endpoint_auth_method", "client_secret_jwt"), 400, "invalid_client_metadata"},
		"keys that are missing":       {newMeta("token_endpoint_auth_method", "private_key_jwt"), 400, "invalid_client_metadata"},
		"keys that are none":          {newMeta("token_endpoint_auth_method", "private_key_jwt", "jwks", meta{"keys": []any{}}), 400, "invalid_client_metadata"},
		"keys to be fetched":          {newMeta("token_endpoint_auth_method", "private_key_jwt", "jwks_uri", "https://canary.example/jwks"), 400, "invalid_client_metadata"},
		"an unknown application type": {newMeta("application_type", "tv"), 400, "invalid_client_metadata"},
		"an algorithm of nobody":      {newMeta("id_token_signed_response_alg", "none"), 400, "invalid_client_metadata"},
		"a name with a line break":    {newMeta("client_name", "a\nb"), 400, "invalid_client_metadata"},
		"a name turned around":        {newMeta("client_name", "a\u202eb"), 400, "invalid_client_metadata"},
		"an isolate in a name":        {newMeta("client_name", "a\u2066b"), 400, "invalid_client_metadata"},
		"a zero width in a name":      {newMeta("client_name", "a\u200bb"), 400, "invalid_client_metadata"},
		"a name full of marks":        {newMeta("client_name", "a"+strings.Repeat("\u0301", 20)), 400, "invalid_client_metadata"},
		"a name of spaces":            {newMeta("client_name", "   "), 400, "invalid_client_metadata"},
		"a name too long":             {newMeta("client_name", strings.Repeat("ä", 81)), 400, "invalid_client_metadata"},
		"our own members":             {newMeta("registration_access_token", "x"), 400, "invalid_client_metadata"},
	} {
		a := r.post(c.body)
		if a.status != c.status || a.tokens.Error != c.code || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s, want %d %s", name, a.status, a.body, c.status, c.code)
		}
	}
	if all, err := r.stored.List(t.Context(), "", 10); len(all) != 0 || err != nil {
		t.Errorf("registered all the same: %v, %v", all, err)
	}
	if a := r.do(http.MethodPost, tokenIssuer+"/register", "a=b", "Authorization", "Bearer "+initialToken); a.status != http.StatusUnsupportedMediaType {
		t.Errorf("a form: %d", a.status)
	}
}

func many(prefix string, n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(prefix, i))
	}
	return all
}

func TestRegistrationNeedsATokenAndLimitsGuesses(t *testing.T) {
	r := newRegisterRig(t)
	target := tokenIssuer + "/register"
	a := r.send(http.MethodPost, target, "", newMeta())
	if a.status != 401 || a.header.Get("WWW-Authenticate") != `Bearer realm="gatehouse"` {
		t.Errorf("without a token: %d %v", a.status, a.header)
	}
	for range 5 {
		r.made(newMeta()) // a right one is never counted
	}
	for i := range 10 {
		a := r.send(http.MethodPost, target, "wrong", newMeta())
		if a.status != 401 || a.tokens.Error != "invalid_token" || !strings.Contains(a.header.Get("WWW-Authenticate"), `error="invalid_token"`) {
			t.Errorf("guess %d: %d %v", i, a.status, a.header)
		}
	}
	for _, token := range []string{"wrong", initialToken} {
		if a := r.send(http.MethodPost, target, token, newMeta()); a.status != 429 || a.header.Get("Retry-After") == "" {
			t.Errorf("after ten guesses: %d %v", a.status, a.header)
		}
	}
	r.from("192.0.2.200")
	r.made(newMeta())
	r.want(r.send(http.MethodPost, target+"?access_token="+initialToken, "", newMeta()).answer, 401, "invalid_token")
	r.want(r.do(http.MethodPost, target, string(must(json.Marshal(newMeta()))), "Content-Type", "application/json", "Authorization", basic("x", initialToken)), 401, "invalid_token")
}

func TestRegistrationNeedsItsOwnToken(t *testing.T) {
	r := newRegisterRig(t, func(c *authserver.Config) { c.Protect.ClientFailures = 1000 })
	one, two := r.made(newMeta()), r.made(newMeta())
	address := one.text("registration_client_uri")
	var bodies []string
	for name, x := range map[string][2]string{
		"another's token":     {address, two.text("registration_access_token")},
		"the initial token":   {address, initialToken},
		"its secret":          {address, one.text("client_secret")},
		"an unknown client":   {tokenIssuer + "/register/c-x", one.text("registration_access_token")},
		"a configured client": {tokenIssuer + "/register/web", webSecret},
		"nothing":             {tokenIssuer + "/register/", one.text("registration_access_token")},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			a := r.send(method, x[0], x[1], newMeta("client_id", one.text("client_id")))
			if a.status != 401 || a.tokens.Error != "invalid_token" {
				t.Errorf("%s, %s: %d %s", name, method, a.status, a.body)
			}
			bodies = append(bodies, a.body)
		}
	}
	if len(slices.Compact(bodies)) != 1 {
		t.Error("the refusals tell which of the two was wrong")
	}
	for path, want := range map[string]int{"/register/a/b": 404, "/register/c-x/": 404} {
		if a := r.send(http.MethodGet, tokenIssuer+path, initialToken, nil); a.status != want {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if a := r.send(http.MethodPost, address, one.text("registration_access_token"), newMeta()); a.status != 405 || a.header.Get("Allow") != "GET, PUT, DELETE" {
		t.Errorf("POST: %d %v", a.status, a.header)
	}
	if a := r.send(http.MethodGet, address, one.text("registration_access_token"), nil); a.status != 200 || a.text("client_id") != one.text("client_id") || a.text("client_secret") != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestUpdateFollowsRegistrationRules(t *testing.T) {
	r := newRegisterRig(t)
	one := r.made(newMeta())
	put := func(changes ...any) registrationAnswer {
		return r.send(http.MethodPut, one.text("registration_client_uri"), one.text("registration_access_token"), newMeta(append([]any{"client_id", one.text("client_id")}, changes...)...))
	}
	for name, c := range map[string]struct {
		changes []any
		code    string
	}{
		"without client_id":       {[]any{"client_id", nil}, "invalid_client_metadata"},
		"another client_id":       {[]any{"client_id", "web"}, "invalid_client_metadata"},
		"a chosen secret":         {[]any{"client_secret", "chosen"}, "invalid_client_metadata"},
		"a scope above the limit": {[]any{"scope", "inner"}, "invalid_client_metadata"},
		"a bad address":           {[]any{"redirect_uris", []string{"x"}}, "invalid_redirect_uri"},
		"no credentials any more": {[]any{"token_endpoint_auth_method", "none"}, "invalid_client_metadata"},
		"its own token":           {[]any{"registration_access_token", one.text("registration_access_token")}, "invalid_client_metadata"},
	} {
		if a := put(c.changes...); a.status != 400 || a.tokens.Error != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	a := put("client_secret", one.text("client_secret"), "client_name", "New", "scope", "read")
	if a.status != 200 || a.text("client_name") != "New" || a.text("scope") != "read" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := put("client_name", nil); a.status != 200 || a.text("client_name") != "" || a.text("scope") != "read write openid" {
		t.Errorf("an update replaces the whole: %d %s", a.status, a.body)
	}
	for what, want := range map[string]int{"created": 1, "updated": 2, "deleted": 0} {
		if n := r.events.count(audit.Registered, what); n != want {
			t.Errorf("%d times %s in the trail, want %d", n, what, want)
		}
	}
}

func TestRegistrationIsKeptFromItsFirstCode(t *testing.T) {
	r := newRegisterRig(t)
	unused := r.made(newMeta())
	used := r.made(newMeta("grant_types", []string{"authorization_code", "refresh_token"}))
	b := r.browser()
	request := func(a registrationAnswer) params {
		return params{"client_id": a.text("client_id"), "redirect_uri": "https://self.example/cb", "response_type": "code", "scope": "read", "state": "S"}
	}
	consent := b.consentPage(request(used))
	for _, name := range []string{"self.example", "Self"} {
		if !strings.Contains(consent.body, name) {
			t.Errorf("the consent page does not show %s", name)
		}
	}
	code := r.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	redeem := params{"grant_type": "authorization_code", "code": code, "redirect_uri": "https://self.example/cb"}
	r.want(r.token(redeem, "Authorization", basic(used.text("client_id"), used.text("client_secret"))), 200, "")
	r.pass(25 * time.Hour)
	r.isError(r.browser().get(authorizeURL(request(unused))), http.StatusBadRequest)
	r.isLogin(r.browser().get(authorizeURL(request(used))))
}

func TestFaultsDuringRegistration(t *testing.T) {
	r := newRegisterRig(t)
	one := r.made(newMeta())
	for n := 1; n <= 3; n++ {
		for _, after := range []bool{false, true} {
			r.store.plan(n, n, after, errors.New("away"))
			if a := r.post(newMeta()); a.status != 503 && a.status != 201 || strings.Contains(a.body, "away") || a.status == 503 && a.header.Get("Retry-After") == "" {
				t.Errorf("fault %d: %d %s", n, a.status, a.body)
			}
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		r.store.plan(1, 100, false, errors.New("away"))
		a := r.send(method, one.text("registration_client_uri"), one.text("registration_access_token"), newMeta("client_id", one.text("client_id")))
		r.want(a.answer, 503, "temporarily_unavailable")
	}
}

func TestRegistrationNeedsARegistrarAndAToken(t *testing.T) {
	for _, registration := range []*registration.Rules{{InitialTokens: []string{"x"}}, {}} {
		c := authserver.Config{Registration: registration}
		if _, err := authserver.New(c); err == nil {
			t.Errorf("accepted: %+v", registration)
		}
	}
}
