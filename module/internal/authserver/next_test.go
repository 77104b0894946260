package authserver_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

func TestSignInLeadsBackToItsPage(t *testing.T) {
	g := newQRRig(t)
	id := secret.ID()
	b := g.browser()
	login := b.get(confirmURL(id))
	g.isLogin(login)
	form := login.form("username", "ann", "password", annsPassword)
	if strings.Contains(form.Get("request"), id) || form.Get("request") == "" {
		t.Errorf("the form: %v", form)
	}
	post := tokenIssuer + "/login"
	with := func(name, value string) string {
		v := url.Values{}
		for k := range form {
			v.Set(k, form.Get(k))
		}
		v.Set(name, value)
		return v.Encode()
	}
	t.Run("after a wrong password too", func(t *testing.T) {
		g.t = t
		again := b.do(http.MethodPost, post, with("password", "wrong"))
		if again.status != http.StatusUnauthorized || again.form().Get("request") != form.Get("request") {
			t.Errorf("%d %s", again.status, again.body)
		}
	})
	t.Run("in this browser only", func(t *testing.T) {
		g.t = t
		other := g.browser()
		token := other.get(tokenIssuer + "/login").form().Get("token")
		v := login.form("username", "ann", "password", annsPassword, "token", token)
		g.isError(other.do(http.MethodPost, post, v.Encode()), http.StatusForbidden)
	})
	t.Run("not where somebody else says", func(t *testing.T) {
		g.t = t
		for _, forged := range []string{"/connect/confirm?uuid=" + id, "https://evil.example", form.Get("request")[1:], form.Get("request") + "x"} {
			g.isError(b.do(http.MethodPost, post, with("request", forged)), http.StatusForbidden)
		}
		p := b.do(http.MethodPost, post+"?next=https://evil.example&request="+url.QueryEscape(form.Get("request")), with("next", "https://evil.example"))
		if p.status == http.StatusSeeOther && p.header.Get("Location") != "/auth/connect/confirm?uuid="+id {
			t.Errorf("%d %v", p.status, p.header)
		}
	})
	t.Run("not for ever", func(t *testing.T) {
		g.t = t
		g.pass(10 * time.Minute)
		p := b.do(http.MethodPost, post, form.Encode())
		if g.isError(p, http.StatusBadRequest); !strings.Contains(p.body, `href="/auth/connect/confirm?uuid=`+id+`"`) {
			t.Errorf("no way to begin again: %s", p.body)
		}
	})
}
