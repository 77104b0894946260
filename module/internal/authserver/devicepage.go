package authserver

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/query"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

const (
	useDevice = "device"
	// maxUserCode is the longest code that is carried through a sign-in.
	maxUserCode = 64
)

// wrongCodes bounds guessing (RFC 8628 section 5.1): with a hundred thousand tickets alive,
// ten guesses a minute find one in a few decades.
var wrongCodes = lockout.Rule{Limit: 10, Window: time.Minute}

func (s *signIn) deviceGet(w http.ResponseWriter, r *http.Request) error {
	p, refused := query.Parse(r.URL.RawQuery)
	if refused != nil {
		return refused
	}
	code := p.Get("user_code")
	if len(code) > maxUserCode || p.Count("user_code") > 1 {
		code = ""
	}
	b, err := s.welcome(w, r)
	if err != nil {
		return err
	}
	who, err := s.whoMay(r)
	if err != nil {
		return err
	}
	if who == nil {
		return s.showLogin(w, r, b, loginPage{next: s.deviceAddress(code)})
	}
	return s.showDevice(w, r, b, who, http.StatusOK, webui.EnterCodeView{UserCode: code})
}

// devicePost goes on to the page that asks whether to confirm. A code that is not there, one
// that has expired and one that was decided read alike.
func (s *signIn) devicePost(w http.ResponseWriter, r *http.Request) error {
	b, form, err := s.receive(r)
	if err != nil {
		return err
	}
	code := form.Get("user_code")
	if len(code) > maxUserCode {
		code = ""
	}
	who, err := s.whoMay(r)
	if err != nil {
		return err
	}
	if who == nil {
		return s.showLogin(w, r, b, loginPage{next: s.deviceAddress(code)})
	}
	if !b.checkToken(form.Get("token"), useDevice, who.user.ID) {
		return errForbidden
	}
	address, user := "usercode:"+httpx.AddressKey(s.ClientIP(r)), "usercode:|"+who.user.ID
	if ok, retry := s.takeBoth(address, user); !ok {
		w.Header().Set("Retry-After", strconv.Itoa(oauth.Seconds(retry)))
		return s.showDevice(w, r, b, who, http.StatusTooManyRequests, webui.EnterCodeView{UserCode: code, Limited: true})
	}
	id, err := s.openTicket(r, code)
	if errors.Is(err, crossdevice.ErrGone) {
		return s.showDevice(w, r, b, who, http.StatusNotFound, webui.EnterCodeView{UserCode: code, Failed: true})
	}
	// What was right, or not looked up, is no guess.
	s.Attempts.Return(address)
	s.Attempts.Return(user)
	if err != nil {
		return err
	}
	page.Redirect(w, r, query.AppendTo(s.base+page.ConfirmPath, "uuid", id))
	return nil
}

// takeBoth counts a guess for the address and for the user, or for neither.
func (s *signIn) takeBoth(address, user string) (ok bool, retry time.Duration) {
	if ok, retry = s.Attempts.Take(address, wrongCodes); !ok {
		return false, retry
	}
	if ok, retry = s.Attempts.Take(user, wrongCodes); !ok {
		s.Attempts.Return(address)
	}
	return ok, retry
}

// openTicket finds the ticket of a code that can still be confirmed.
func (s *signIn) openTicket(r *http.Request, code string) (string, error) {
	id, err := s.CrossDevice.ByUserCode(r.Context(), code)
	if err != nil {
		return "", err
	}
	ticket, err := s.CrossDevice.Find(r.Context(), id)
	if err == nil && (ticket.Final() || ticket.Over(s.Now())) {
		err = crossdevice.ErrGone
	}
	return id, err
}

func (s *signIn) showDevice(w http.ResponseWriter, r *http.Request, b browser, who *person, status int, v webui.EnterCodeView) error {
	v.Form = webui.Form{Lang: s.Pages.Language(r, ""), Action: s.base + page.DevicePath, Token: b.token(useDevice, who.user.ID)}
	v.User = who.user.Username
	s.Pages.EnterCode(w, status, v)
	return nil
}

func (s *signIn) deviceAddress(code string) string {
	if code == "" {
		return s.base + page.DevicePath
	}
	return query.AppendTo(s.base+page.DevicePath, "user_code", code)
}
