package confirm

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const (
	actionDevice = "device" // of the form's token
	// maxUserCode is the longest code that is carried through a sign-in.
	maxUserCode = 64
)

// wrongCodes bounds guessing (RFC 8628 section 5.1): with a hundred thousand tickets alive, ten guesses a minute find
// one in a few decades.
var wrongCodes = lockout.Rule{Limit: 10, Window: time.Minute}

// GetCode shows the page on which the short code of a device is typed (RFC 8628). It looks up no code, and confirms
// nothing.
func (e *Endpoint) GetCode(w http.ResponseWriter, r *http.Request) error {
	sent, err := query.Parse(r.URL.RawQuery)
	if err != nil {
		return err
	}
	code := sent.Get("user_code")
	if len(code) > maxUserCode || sent.Count("user_code") > 1 {
		code = ""
	}
	b, err := e.Welcome(w, r)
	if err != nil {
		return err
	}
	who, err := e.Require(w, r, b, e.codePath(code))
	if who == nil {
		return err
	}
	return e.showCodePage(w, r, b, who, http.StatusOK, webui.EnterCodeView{UserCode: code})
}

// PostCode redirects to the page that asks for confirmation. The answer is the same for an unknown code, an expired one
// and one that was decided.
func (e *Endpoint) PostCode(w http.ResponseWriter, r *http.Request) error {
	b, form, err := e.ReceiveForm(r)
	if err != nil {
		return err
	}
	code := form.Get("user_code")
	if len(code) > maxUserCode {
		code = ""
	}
	who, err := e.Require(w, r, b, e.codePath(code))
	if who == nil {
		return err
	}
	if !b.CheckToken(form.Get("token"), actionDevice, who.User.ID) {
		return refusal.Forbid()
	}
	address, user := "usercode:"+httpx.AddressKey(e.ClientIP(r)), "usercode:|"+who.User.ID
	if ok, retry := e.countGuess(address, user); !ok {
		w.Header().Set("Retry-After", strconv.Itoa(oauth.Seconds(retry)))
		return e.showCodePage(w, r, b, who, http.StatusTooManyRequests, webui.EnterCodeView{UserCode: code, Limited: true})
	}
	id, err := e.findOpenTicket(r.Context(), code)
	if errors.Is(err, crossdevice.ErrGone) {
		return e.showCodePage(w, r, b, who, http.StatusNotFound, webui.EnterCodeView{UserCode: code, Failed: true})
	}
	// A code that was right, or not looked up, is no guess.
	e.Tickets.Attempts.Return(address)
	e.Tickets.Attempts.Return(user)
	if err != nil {
		return err
	}
	page.Redirect(w, r, query.AppendTo(e.Site.Base+page.ConfirmPath, "uuid", id))
	return nil
}

// countGuess counts a guess for the address and for the user, or for neither.
func (e *Endpoint) countGuess(address, user string) (ok bool, retry time.Duration) {
	if ok, retry = e.Tickets.Attempts.Take(address, wrongCodes); !ok {
		return false, retry
	}
	if ok, retry = e.Tickets.Attempts.Take(user, wrongCodes); !ok {
		e.Tickets.Attempts.Return(address)
	}
	return ok, retry
}

// findOpenTicket finds the ticket of a code that can still be confirmed.
func (e *Endpoint) findOpenTicket(ctx context.Context, code string) (string, error) {
	id, err := e.Tickets.ByUserCode(ctx, code)
	if err != nil {
		return "", err
	}
	ticket, err := e.Tickets.Find(ctx, id)
	if err == nil && (ticket.Final() || ticket.Over(e.Now())) {
		err = crossdevice.ErrGone
	}
	return id, err
}

// showCodePage shows the page to somebody who is signed in; v is without form and user.
func (e *Endpoint) showCodePage(w http.ResponseWriter, r *http.Request, b session.Browser, who *session.SignedIn, status int, v webui.EnterCodeView) error {
	v.Form = webui.Form{Lang: e.Pages.Language(r, ""), Action: e.Site.Base + page.DevicePath, Token: b.Token(actionDevice, who.User.ID)}
	v.User = who.User.Username
	e.Pages.EnterCode(w, status, v)
	return nil
}

func (e *Endpoint) codePath(code string) string {
	if code == "" {
		return e.Site.Base + page.DevicePath
	}
	return query.AppendTo(e.Site.Base+page.DevicePath, "user_code", code)
}
