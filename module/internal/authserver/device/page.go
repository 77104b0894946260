package device

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/login"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	actionDevice = "device" // of the form's token
	// maxUserCode is the longest code that is carried through a sign-in.
	maxUserCode = 64
)

// wrongCodes bounds guessing (RFC 8628 section 5.1): with a hundred thousand tickets alive, ten
// guesses a minute find one in a few decades.
var wrongCodes = lockout.Rule{Limit: 10, Window: time.Minute}

// Codes finds tickets by their short codes. Errors match [crossdevice.ErrGone] or are technical.
type Codes interface {
	ByUserCode(ctx context.Context, code string) (id string, err error)
	Find(ctx context.Context, id string) (store.Ticket, error)
}

// Page is the page on which a short code is typed, to find the ticket it stands for. It looks none
// up for anybody who is not signed in, and confirms nothing. All fields are needed.
type Page struct {
	*login.Page
	Codes Codes
}

// Get shows the page.
func (p *Page) Get(w http.ResponseWriter, r *http.Request) error {
	sent, err := query.Parse(r.URL.RawQuery)
	if err != nil {
		return err
	}
	code := sent.Get("user_code")
	if len(code) > maxUserCode || sent.Count("user_code") > 1 {
		code = ""
	}
	b, err := p.Welcome(w, r)
	if err != nil {
		return err
	}
	who, err := p.Require(w, r, b, p.address(code))
	if who == nil {
		return err
	}
	return p.Show(w, r, b, who, http.StatusOK, webui.EnterCodeView{UserCode: code})
}

// Post goes on to the page that asks whether to confirm. An unknown code, one that has expired and
// one that was decided read alike.
func (p *Page) Post(w http.ResponseWriter, r *http.Request) error {
	b, form, err := p.ReceiveForm(r)
	if err != nil {
		return err
	}
	code := form.Get("user_code")
	if len(code) > maxUserCode {
		code = ""
	}
	who, err := p.Require(w, r, b, p.address(code))
	if who == nil {
		return err
	}
	if !b.CheckToken(form.Get("token"), actionDevice, who.User.ID) {
		return refusal.Forbid()
	}
	address, user := "usercode:"+httpx.AddressKey(p.ClientIP(r)), "usercode:|"+who.User.ID
	if ok, retry := p.countGuess(address, user); !ok {
		w.Header().Set("Retry-After", strconv.Itoa(oauth.Seconds(retry)))
		return p.Show(w, r, b, who, http.StatusTooManyRequests, webui.EnterCodeView{UserCode: code, Limited: true})
	}
	id, err := p.findOpenTicket(r.Context(), code)
	if errors.Is(err, crossdevice.ErrGone) {
		return p.Show(w, r, b, who, http.StatusNotFound, webui.EnterCodeView{UserCode: code, Failed: true})
	}
	// A code that was right, or not looked up, is no guess.
	p.Attempts.Return(address)
	p.Attempts.Return(user)
	if err != nil {
		return err
	}
	page.Redirect(w, r, query.AppendTo(p.Site.Base+page.ConfirmPath, "uuid", id))
	return nil
}

// countGuess counts a guess for the address and for the user, or for neither.
func (p *Page) countGuess(address, user string) (ok bool, retry time.Duration) {
	if ok, retry = p.Attempts.Take(address, wrongCodes); !ok {
		return false, retry
	}
	if ok, retry = p.Attempts.Take(user, wrongCodes); !ok {
		p.Attempts.Return(address)
	}
	return ok, retry
}

// findOpenTicket finds the ticket of a code that can still be confirmed.
func (p *Page) findOpenTicket(ctx context.Context, code string) (string, error) {
	id, err := p.Codes.ByUserCode(ctx, code)
	if err != nil {
		return "", err
	}
	ticket, err := p.Codes.Find(ctx, id)
	if err == nil && (ticket.Final() || ticket.Over(p.Now())) {
		err = crossdevice.ErrGone
	}
	return id, err
}

// Show shows the page to somebody who is signed in; v is without form and user.
func (p *Page) Show(w http.ResponseWriter, r *http.Request, b session.Browser, who *session.SignedIn, status int, v webui.EnterCodeView) error {
	v.Form = webui.Form{Lang: p.Pages.Language(r, ""), Action: p.Site.Base + page.DevicePath, Token: b.Token(actionDevice, who.User.ID)}
	v.User = who.User.Username
	p.Pages.EnterCode(w, status, v)
	return nil
}

func (p *Page) address(code string) string {
	if code == "" {
		return p.Site.Base + page.DevicePath
	}
	return query.AppendTo(p.Site.Base+page.DevicePath, "user_code", code)
}
