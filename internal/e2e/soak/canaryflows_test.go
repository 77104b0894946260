package soak

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
)

// canaryFlows is what a run does.
type canaryFlows struct {
	*canaryRun
	pass, secret, basic string
}

// authorize is a request with a state of its own.
func (f *canaryFlows) authorize(changes ...string) string {
	q := url.Values{
		"client_id": {"web"}, "redirect_uri": {"https://client.example/cb"}, "response_type": {"code"}, "scope": {"openid read"},
		"state": {f.Plant(f.t, "state", "state-"+gatewaytest.ID())}, "code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}
	for i := 0; i+1 < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
		if changes[i+1] == "" {
			q.Del(changes[i])
		}
	}
	return f.ID + "/authorize?" + q.Encode()
}

// codeFrom signs alice in and returns a code.
func (f *canaryFlows) codeFrom(b *harness.Browser, address string) string {
	f.t.Helper()
	code := b.Authorize(address, "alice", f.pass).Query().Get("code")
	if code == "" {
		f.t.Fatal("no code")
	}
	return code
}

func (f *canaryFlows) exchange(code string) string {
	return pairs("grant_type", "authorization_code", "code", code, "redirect_uri", "https://client.example/cb", "code_verifier", harness.Verifier)
}

// signIn is the usual way, with a wrong password first, and denied once.
func (f *canaryFlows) signIn() (access, refresh string) {
	b := f.browser()
	wrong := f.Plant(f.t, "a wrong password", "wrong-"+gatewaytest.ID())
	b.Submit(b.Get(f.authorize()), url.Values{"username": {"alice"}, "password": {wrong}})
	b.Submit(b.Get(f.authorize()), url.Values{"username": {"nobody"}, "password": {f.pass}})
	page := b.Submit(b.Get(f.authorize()), url.Values{"username": {"alice"}, "password": {f.pass}})
	if !strings.Contains(page.Body, `name="decision"`) {
		f.t.Fatalf("no consent page: %d %.300s", page.Status, page.Body)
	}
	if denied := b.Submit(page, url.Values{"decision": {"deny"}}); denied.Location(f.t).Query().Get("error") != "access_denied" {
		f.t.Errorf("not denied: %v", denied.Header)
	}
	b.Submit(page, url.Values{"decision": {"allow"}}) // the second answer to one page
	p := f.want(200, "POST", f.ID+"/token", f.exchange(f.codeFrom(b, f.authorize())), "Authorization", f.basic)
	f.text(p, "id_token")
	return f.text(p, "access_token"), f.text(p, "refresh_token")
}

// codes are used twice, by others, and where they do not belong.
func (f *canaryFlows) codes() {
	b := f.browser()
	code := f.codeFrom(b, f.authorize())
	f.want(401, "POST", f.ID+"/token", f.exchange(code), "Authorization", "Basic "+f.Plant(f.t, "a Basic header", "d2ViOmJhc2ljLWNhbmFyeS0wMTIzNDU2Nzg5"))
	f.want(400, "POST", f.ID+"/token?"+f.exchange(code), "grant_type=authorization_code", "Authorization", f.basic)
	f.want(200, "POST", f.ID+"/token", f.exchange(code), "Authorization", f.basic)
	f.want(400, "POST", f.ID+"/token", f.exchange(code), "Authorization", f.basic)
	f.want(404, "GET", f.ID+"/cb?code="+code, "")
	f.want(404, "GET", f.ID+"/"+code, "")
	f.want(200, "GET", f.authorize(), "", "Referer", "https://client.example/cb?code="+f.Plant(f.t, "a Referer", "referer-"+gatewaytest.ID()))
}

// grants are the ways to a token besides the code.
func (f *canaryFlows) grants(key harness.ClientKey) {
	f.want(200, "POST", f.ID+"/token", pairs("grant_type", "client_credentials", "client_id", "web", "client_secret", f.secret))
	f.want(200, "POST", f.ID+"/token", pairs("grant_type", "password", "username", "alice", "password", f.pass), "Authorization", f.basic)
	f.want(400, "POST", f.ID+"/token", pairs("grant_type", "password", "username", "alice", "password", f.Plant(f.t, "a wrong password", "wrong-"+gatewaytest.ID())), "Authorization", f.basic)

	assertion := f.Plant(f.t, "a client assertion", key.Assertion(f.t, "signed", f.ID))
	const kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	signed := pairs("grant_type", "client_credentials", "scope", "read", "client_assertion_type", kind, "client_assertion", assertion)
	f.want(200, "POST", f.ID+"/token", signed)
	f.want(401, "POST", f.ID+"/token", signed) // the same once more
	forged := f.Plant(f.t, "a client assertion", harness.NewClientKey(f.t).Assertion(f.t, "signed", f.ID))
	f.want(401, "POST", f.ID+"/token", pairs("grant_type", "client_credentials", "client_assertion_type", kind, "client_assertion", forged))

	to := f.browser().Authorize(f.authorize("response_type", "token"), "alice", f.pass)
	if !strings.Contains(to.Fragment, "access_token=") {
		f.t.Errorf("no implicit token: %s", to)
	}
	u, _ := url.Parse(f.authorize())
	pushed := f.want(201, "POST", f.ID+"/par", u.RawQuery, "Authorization", f.basic)
	f.codeFrom(f.browser(), f.ID+"/authorize?"+pairs("client_id", "web", "request_uri", f.text(pushed, "request_uri")))
}

func (f *canaryFlows) registration(initial string) {
	wanted := map[string]any{"redirect_uris": []string{"https://new.example/cb"}, "client_name": "New", "scope": "read"}
	p := f.want(201, "POST", f.ID+"/register", asJSON(f.t, wanted), "Content-Type", jsonBody, "Authorization", "Bearer "+initial)
	at, token := f.text(p, "registration_client_uri"), "Bearer "+f.text(p, "registration_access_token")
	wrong := f.Plant(f.t, "a wrong initial access token", "initial-"+gatewaytest.Token())
	f.want(401, "POST", f.ID+"/register", asJSON(f.t, wanted), "Content-Type", jsonBody, "Authorization", "Bearer "+wrong)
	f.want(200, "GET", at, "", "Authorization", token)
	f.want(401, "GET", at, "", "Authorization", "Bearer "+wrong)
	wanted["client_id"] = f.text(p, "client_id")
	wanted["client_name"] = "Newer"
	f.want(200, "PUT", at, asJSON(f.t, wanted), "Content-Type", jsonBody, "Authorization", token)
	f.send("PUT", at, asJSON(f.t, map[string]any{"client_id": wanted["client_id"], "client_secret": f.secret}), "Content-Type", jsonBody, "Authorization", token)
	f.want(204, "DELETE", at, "", "Authorization", token)
}

// tokens live and die.
func (f *canaryFlows) tokens(access, refresh string) {
	bearer := "Bearer " + access
	f.want(200, "GET", f.ID+"/userinfo", "", "Authorization", bearer)
	f.want(200, "POST", f.ID+"/introspect", pairs("token", access), "Authorization", f.basic)
	p := f.want(200, "POST", f.ID+"/token", pairs("grant_type", "refresh_token", "refresh_token", refresh), "Authorization", f.basic)
	next := f.text(p, "refresh_token")
	f.reuse()
	f.want(400, "POST", f.ID+"/token", pairs("grant_type", "refresh_token", "refresh_token", next+"x"), "Authorization", f.basic)
	f.want(400, "POST", f.ID+"/revoke?token="+next, "", "Authorization", f.basic)
	f.want(200, "POST", f.ID+"/revoke", pairs("token", next, "token_type_hint", "refresh_token"), "Authorization", f.basic)
	f.want(400, "POST", f.ID+"/token", pairs("grant_type", "refresh_token", "refresh_token", next), "Authorization", f.basic)
	f.want(401, "GET", f.ID+"/userinfo", "", "Authorization", bearer)
	f.want(400, "GET", f.ID+"/userinfo?access_token="+access, "")
}

// reuse presents a refresh token that was replaced.
func (f *canaryFlows) reuse() {
	p := f.want(200, "POST", f.ID+"/token", f.exchange(f.codeFrom(f.browser(), f.authorize())), "Authorization", f.basic)
	old := pairs("grant_type", "refresh_token", "refresh_token", f.text(p, "refresh_token"))
	f.want(200, "POST", f.ID+"/token", old, "Authorization", f.basic)
	f.want(400, "POST", f.ID+"/token", old, "Authorization", f.basic)
}

// mistakes are what clients do wrong, with secrets where they do not belong.
func (f *canaryFlows) mistakes() {
	f.want(400, "POST", f.ID+"/token?client_secret="+f.secret, pairs("grant_type", "client_credentials", "client_id", "web"))
	f.want(405, "GET", f.ID+"/token?"+pairs("grant_type", "password", "password", f.pass, "client_secret", f.secret), "")
	f.want(415, "POST", f.ID+"/token", asJSON(f.t, map[string]string{"client_secret": f.secret}), "Content-Type", jsonBody)
	large := pairs("client_secret", f.secret, "filler", strings.Repeat("x", 70<<10))
	if res, err := f.browser().Client.Post(f.ID+"/token", "application/x-www-form-urlencoded", strings.NewReader(large)); err == nil {
		_ = res.Body.Close() // else the connection was closed before all of it was sent
	}
	f.want(400, "POST", f.ID+"/token", pairs("grant_type", "client_credentials", "client_secret", f.secret), "Authorization", f.basic)
	f.want(400, "POST", f.ID+"/token", "client_secret="+f.secret+"&client_secret="+f.secret+"&grant_type=x")
	f.want(400, "POST", f.ID+"/token", pairs("grant_type", f.secret, "client_id", "web", "client_secret", f.secret))
	f.want(400, "GET", f.authorize("redirect_uri", "https://evil.example/?x="+f.secret), "")
	f.want(400, "GET", f.authorize("client_id", "nobody"), "")
	f.want(302, "GET", f.authorize("scope", "unknown"), "")
	f.want(302, "GET", f.authorize("response_type", "", "client_secret", f.secret), "")
	f.want(404, "GET", f.ID+"/authorize/"+f.secret+"?"+f.secret, "")
	f.want(303, "POST", f.ID+"/authorize", strings.TrimPrefix(f.authorize(), f.ID+"/authorize?"))
	b := f.browser()
	_, form := harness.Form(f.t, b.Get(f.authorize()))
	form.Set("request", form.Get("request")+"x")
	form.Set("username", "alice")
	form.Set("password", f.pass)
	b.Post(f.ID+"/login", form)
	b.Post(f.ID+"/consent", form)
	f.browser().Post(f.ID+"/login", form) // another browser
}

// guard is asked with every kind of credential, in front of an API that is there and of
// ones that are not.
func (f *canaryFlows) guard(dead string) {
	p := f.want(200, "POST", f.ID+"/token", pairs("grant_type", "client_credentials", "scope", "read"), "Authorization", f.basic)
	token := f.text(p, "access_token")
	for path, status := range map[string]int{"/read": 200, "/read/cut": 502, "/dead/x": 502, "/bare/x": 502, "/else": 403} {
		f.want(status, "GET", f.API+path, "", "Authorization", "Bearer "+token, "Cookie", "gatehouse="+gatewaytest.Token())
	}
	f.want(401, "GET", f.API+"/read", "", "Authorization", "Bearer "+dead)
	f.want(401, "GET", f.API+"/bare/x", "", "Authorization", "Bearer "+dead)
	f.want(400, "GET", f.API+"/read", "", "Authorization", "Bearer "+token+" "+token)
	f.want(401, "GET", f.API+"/read", "", "Authorization", f.basic)
	for _, path := range []string{"/read", "/bare/x", "/public"} {
		f.want(400, "GET", f.API+path+"?x=1&access_token="+token, "")
		f.want(400, "GET", f.API+path+"?ACCESS%5Ftoken="+f.secret, "")
	}
}

// jobs is work that outlives its request, and work that is refused.
func (f *canaryFlows) jobs() {
	p := f.want(200, "POST", f.ID+"/token", pairs("grant_type", "client_credentials", "scope", "read"), "Authorization", f.basic)
	bearer := "Bearer " + f.text(p, "access_token")
	p = f.want(202, "POST", f.API+"/mails", `{}`, "Authorization", bearer, "Content-Type", jsonBody)
	job := f.API + p.Header.Get("Location")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if state := f.text(f.want(200, "GET", job, "", "Authorization", bearer), "state"); state == "succeeded" {
			break
		} else if time.Now().After(deadline) {
			f.t.Fatalf("a job is still %s", state)
		}
	}
	signature := f.Plant(f.t, "the signature of an address", "signature-"+gatewaytest.Token())
	f.want(400, "POST", f.API+"/imports", `{"file_url":"https://127.0.0.1/?signature=`+signature+`"}`, "Authorization", bearer, "Content-Type", jsonBody)
	f.want(404, "GET", f.API+"/jobs/"+gatewaytest.ID(), "", "Authorization", bearer)
}

// account ends what it shows, and signs out.
func (f *canaryFlows) account() {
	b := f.browser()
	for range 11 { // one more than alice may have
		f.want(200, "POST", f.ID+"/token", f.exchange(f.codeFrom(b, f.authorize())), "Authorization", f.basic)
	}
	applications := harness.Buttons(f.t, b.Get(f.ID+"/account"), "withdraw")
	if len(applications) == 0 {
		f.t.Fatal("no application to withdraw")
	}
	f.press(b, "withdraw", applications[0])
	p := f.want(200, "POST", f.ID+"/token", f.exchange(f.codeFrom(b, f.authorize())), "Authorization", f.basic)
	hint := f.text(p, "id_token")
	b.Get(f.ID + "/logout?" + pairs("id_token_hint", hint+"x", "state", f.Plant(f.t, "state", "state-"+gatewaytest.ID())))
	b.Get(f.ID + "/logout?" + pairs("id_token_hint", hint, "post_logout_redirect_uri", "https://client.example/bye", "state", f.Plant(f.t, "state", "state-"+gatewaytest.ID())))
	if again := b.Get(f.ID + "/account"); !strings.Contains(again.Body, `name="password"`) {
		f.t.Errorf("still signed in: %d %.300s", again.Status, again.Body)
	}
	f.codeFrom(b, f.authorize())
	f.press(b, "all", "everything")
}

// press presses a button of the account page.
func (f *canaryFlows) press(b *harness.Browser, name, value string) {
	f.t.Helper()
	_, form := harness.Form(f.t, b.Get(f.ID+"/account"))
	form.Set(name, value)
	if p := b.Post(f.ID+"/account", form); p.Status != http.StatusOK && p.Status != http.StatusSeeOther {
		f.t.Errorf("%s: %d %.300s", name, p.Status, p.Body)
	}
}
