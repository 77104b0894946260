package soak

import (
	"net/url"
	"regexp"

	"github.com/gatehouse/gatehouse/module/gatewaytest"
)

var (
	scanTicket = regexp.MustCompile(`data-poll="/connect/l/qrconnect\?uuid=([\w-]{22})"`)
	scanNumber = regexp.MustCompile(`class="digits"[^>]*>([0-9]{2})<`)
)

// aTicket is what only the store may keep besides the state of a request.
const aTicket = "a ticket"

// scanning signs in by codes that are scanned: confirmed, denied, with a wrong number, by
// the wrong browser, and with a code that comes twice.
func (f *canaryFlows) scanning() {
	phone := f.browser()
	phone.Submit(phone.Get(f.ID+"/login"), url.Values{"username": {"alice"}, "password": {f.pass}})
	for _, answer := range []string{"confirm", "deny", "wrong"} {
		q := pairs("appid", "wx", "redirect_uri", "https://wx.example/cb", "response_type", "code", "scope", "snsapi_login",
			"state", f.Plant(f.t, "state", "state-"+gatewaytest.ID()))
		screen := f.browser()
		page := screen.Get(f.ID + "/connect/qrconnect?" + q)
		id, number := scanTicket.FindStringSubmatch(page.Body), scanNumber.FindStringSubmatch(page.Body)
		if id == nil || number == nil {
			f.t.Fatalf("no code to scan: %d %.2000s", page.Status, page.Body)
		}
		f.Plant(f.t, aTicket, id[1])
		poll, confirm := f.ID+"/connect/l/qrconnect?f=json&uuid="+id[1], f.ID+"/connect/confirm?uuid="+id[1]
		f.want(200, "GET", f.ID+"/connect/qrcode/"+id[1], "")
		f.want(403, "GET", poll, "")
		f.want(200, "GET", confirm, "") // the login page
		f.want(405, "PUT", confirm, "")
		fields := url.Values{"decision": {answer}, "number": {number[1]}}
		if answer == "wrong" {
			fields = url.Values{"decision": {"confirm"}, "number": {"07"}}
		}
		phone.Submit(phone.Get(confirm), fields)
		if answer == "confirm" {
			code := f.Plant(f.t, "a code that was scanned for", f.text(screen.Get(poll), "wx_code"))
			screen.Get(f.ID + "/connect/qrconnect?uuid=" + id[1])
			f.redeemScanned(code)
		}
		screen.Get(poll)
	}
}

func (f *canaryFlows) redeemScanned(code string) {
	exchange := pairs("appid", "wx", "secret", f.secret, "code", code, "grant_type", "authorization_code")
	p := f.want(200, "GET", f.ID+"/sns/oauth2/access_token?"+exchange, "")
	f.want(400, "GET", f.ID+"/sns/oauth2/access_token?"+exchange, "")
	f.want(401, "GET", f.ID+"/sns/oauth2/access_token?"+pairs("appid", "wx", "secret", f.Plant(f.t, "a wrong secret", "wrong-"+gatewaytest.Token()), "code", code, "grant_type", "authorization_code"), "")
	f.want(401, "GET", f.ID+"/sns/userinfo?"+pairs("access_token", f.text(p, "access_token"), "openid", f.text(p, "openid")), "") // it died with the second use
}
