package soak

import (
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/gatewaytest"
)

// site is what a site of Variant B does after a sign-in in one browser: everything that
// travels in addresses, also where it does not belong, and in those of pages.
func (f *canaryFlows) site() {
	q := pairs("appid", "wx", "redirect_uri", "https://wx.example/cb", "response_type", "code", "scope", "snsapi_userinfo,read",
		"state", f.Plant(f.t, "state", "state-"+gatewaytest.ID()))
	code := f.codeFrom(f.browser(), f.ID+"/connect/oauth2/authorize?"+q)
	p := f.want(200, "POST", f.ID+"/sns/oauth2/access_token?appid=wx&code="+code, pairs("secret", f.secret, "grant_type", "authorization_code"))
	access, refresh, openid := f.text(p, "access_token"), f.text(p, "refresh_token"), f.text(p, "openid")
	asks, again := pairs("access_token", access, "openid", openid), pairs("appid", "wx", "grant_type", "refresh_token", "refresh_token", refresh)
	wrong := f.Plant(f.t, "a token that is none", "wrong-"+gatewaytest.Token())
	for address, status := range map[string]int{
		"/sns/userinfo?" + asks:                                           200,
		"/sns/auth?" + asks:                                               200,
		"/sns/oauth2/refresh_token?" + again:                              200,
		"/sns/oauth2/refresh_token?" + again + "x":                        400,
		"/sns/oauth2/refresh_token?refresh_token=" + wrong:                400,
		"/sns/userinfo?access_token=" + wrong + "&openid=" + openid:       401,
		"/sns/userinfo?access_token=" + access + "&openid=" + wrong:       403,
		"/sns/auth?" + asks + "&access_token=" + wrong:                    400,
		"/sns/userinfo?" + wrong:                                          401,
		"/sns/userinfo/" + access + "?" + asks:                            404,
		"/sns/oauth2/access_token?code=" + access + "&secret=" + f.secret: 400,
		"/connect/qrconnect?secret=" + f.secret + "&" + strings.Replace(q, "_userinfo%2Cread", "_login", 1): 200,
		"/connect/oauth2/authorize?appid=wx&redirect_uri=https%3A%2F%2Fevil.example%2F%3F" + wrong:          400,
		"/connect/" + access: 404,
	} {
		f.want(status, "GET", f.ID+address, "", "Referer", f.ID+"/sns/userinfo?"+asks)
		if path, query, _ := strings.Cut(address, "?"); strings.HasPrefix(path, "/sns/") {
			f.want(status, "POST", f.ID+path, query, "Referer", "https://wx.example/cb?code="+wrong+"&"+again)
		}
	}
	f.want(200, "GET", f.API+"/read", "", "Authorization", "Bearer "+access)
	for _, path := range []string{"/read", "/bare/x", "/public"} {
		page := f.API + path + "?openid=" + openid + "&access_token=" + access
		f.want(400, "GET", page, "")
		f.want(400, "POST", f.API+path+"?ACCESS%5Ftoken="+access, "a=b")
		f.send("GET", f.API+path+"/favicon.ico", "", "Referer", page)
		f.send("GET", f.API+path, "", "Referer", page, "Authorization", "Bearer "+access)
	}
}

// devices are allowed and denied.
func (f *canaryFlows) devices() {
	phone := f.browser()
	phone.Submit(phone.Get(f.ID+"/login"), url.Values{"username": {"alice"}, "password": {f.pass}})
	for _, answer := range []string{"confirm", "deny"} {
		p := f.want(200, "POST", f.ID+"/device_authorization", pairs("client_id", "tv", "scope", "read"))
		ticket, key, _ := strings.Cut(f.text(p, "device_code"), ".")
		f.Plant(f.t, aTicket, ticket)
		f.Plant(f.t, "the secret of a device", key)
		code, page := f.text(p, "user_code"), f.text(p, "verification_uri_complete")
		f.Plant(f.t, "a short code", "user_code="+code)
		f.Plant(f.t, "a short code", "user_code="+strings.ReplaceAll(code, "-", ""))
		poll := pairs("grant_type", "urn:ietf:params:oauth:grant-type:device_code", "client_id", "tv", "device_code", f.text(p, "device_code"))
		f.want(400, "POST", f.ID+"/token", poll)
		f.want(400, "POST", f.ID+"/token?"+poll, "")
		f.want(200, "GET", page, "", "Referer", page) // the login page
		to := phone.Submit(phone.Get(page), url.Values{"user_code": {strings.ToLower(code)}}).Location(f.t)
		phone.Submit(phone.Get(f.ID+to.RequestURI()), url.Values{"decision": {answer}})
		f.send("POST", f.ID+"/token", poll)
		f.send("POST", f.ID+"/token", poll)
	}
}
