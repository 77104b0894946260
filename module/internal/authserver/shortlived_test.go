package authserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
)

func TestUsedCodeIsNotReissuedWithShortTokenLifetimes(t *testing.T) {
	g := newBrowserRig(t, func(c *authserver.Config) {
		c.Lifetimes.Access, c.Lifetimes.Refresh = time.Minute, time.Minute
	})
	b := g.browser()
	consent := b.consentPage(webRequest())
	code := g.issued(b.submit(consent, "decision", "allow"), http.StatusSeeOther)
	g.want(g.token(redeemWeb(code)), http.StatusOK, "")
	g.pass(5 * time.Minute) // all it issued is dead, the form is not
	g.isError(b.submit(consent, "decision", "allow"), http.StatusBadRequest)
	g.want(g.token(redeemWeb(code)), http.StatusBadRequest, "invalid_grant")
}
