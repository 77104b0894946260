package login

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/webui"
)

const (
	useNext     = "next"  // of the keys' secret
	actionLogin = "login" // of the form's token
	// maxNext is the longest address that a sign-in leads to, in bytes.
	maxNext = 1024
)

// Page shows the login page, alone or in place of a page that needs a user. All fields are needed.
type Page struct {
	*session.Sessions
	// RequestLife is how long a sign-in may take.
	RequestLife time.Duration
}

// View is what the login page is shown for.
type View struct {
	Title      string // of the client, "" outside of an authorization request
	Unverified bool   // the client registered itself
	Locales    string // that the request asked for
	next       string // the path of ours to go to, "" for the account page
	Sealed     string // the request or next as a form carries it, "" to seal next now
	Username   string
	Status     int // default 200
	Failed     bool
	Limited    bool
	outdated   bool
}

// ShowLogin shows the login page.
func (p *Page) ShowLogin(w http.ResponseWriter, r *http.Request, b session.Browser, v View) error {
	if v.next != "" && v.Sealed == "" {
		sealed, err := p.sealNext(b, v.next)
		if err != nil {
			return err
		}
		v.Sealed = sealed
	}
	p.Pages.Login(w, cmp.Or(v.Status, http.StatusOK), webui.LoginView{
		Form: webui.Form{
			Lang: p.Pages.Language(r, v.Locales), Action: p.Site.Base + page.LoginPath,
			Token: p.formToken(b), Request: v.Sealed,
		},
		Client: v.Title, Unverified: v.Unverified, Username: v.Username, Failed: v.Failed, Limited: v.Limited, Outdated: v.outdated,
	})
	return nil
}

// formToken makes the token of a sign-in form. It has the time and a digest of the last sign-in's cookie in it, so that a form
// that was used or is old is known as such.
func (p *Page) formToken(b session.Browser) string {
	shown := secret.Digest(b.LastSignIn) + "." + strconv.FormatInt(p.Now().Unix(), 36)
	return shown + "." + b.Token(actionLogin, shown)
}

// checkFormToken reports whether this browser was shown a form with a token, and whether the form is outdated: somebody has
// signed in there since, or it took too long. A password that was refused while its user was locked must not work later, when
// somebody else reloads the page.
func (p *Page) checkFormToken(b session.Browser, token string) (ours, outdated bool) {
	end := strings.LastIndexByte(token, '.')
	if end < 0 || !b.CheckToken(token[end+1:], actionLogin, token[:end]) {
		return false, false
	}
	before, at, _ := strings.Cut(token[:end], ".")
	seconds, err := strconv.ParseInt(at, 36, 64)
	return true, err != nil || before != secret.Digest(b.LastSignIn) || p.Now().Sub(time.Unix(seconds, 0)) >= p.RequestLife
}

// Require returns the signed-in user. If there is none, or the user is locked, it shows the login page, which leads to
// next, a path of ours ("" for the account page), and returns nil.
func (p *Page) Require(w http.ResponseWriter, r *http.Request, b session.Browser, next string) (*session.SignedIn, error) {
	who, err := p.Unlocked(r)
	if err != nil || who != nil {
		return who, err
	}
	return nil, p.ShowLogin(w, r, b, View{next: next})
}

// nextPath is a path of ours to go to after signing in. The form carries it in place of an authorization request,
// sealed and bound to the browser, so that an operator's own login pages carry it too. It is never taken from an
// address: that would be an open redirector, or a way to make users sign in for a page that an attacker chose.
type nextPath struct {
	Path    string    `json:"next"`
	Created time.Time `json:"at"`
}

var errNext = errors.New("authserver: only paths of our own are sealed")

func (p *Page) sealNext(b session.Browser, path string) (string, error) {
	if len(path) > maxNext || !strings.HasPrefix(path, p.Site.Base+"/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "", errNext
	}
	plain, err := json.Marshal(nextPath{Path: path, Created: p.Now()})
	if err != nil {
		return "", err
	}
	return b.Seal(useNext, plain), nil
}

// cutOpener cuts the window that opened this one off, unless a form is for a client's request.
func (p *Page) cutOpener(w http.ResponseWriter, b session.Browser, sealed string) {
	if _, err := b.Open(useNext, sealed); sealed == "" || err == nil {
		webui.CutOpener(w.Header())
	}
}

// openNext returns the path that a form sent back, "" if there was none. If it took too long, the error page offers to
// start again.
func (p *Page) openNext(b session.Browser, sealed string) (string, error) {
	plain, err := b.Open(useNext, sealed)
	if err != nil {
		return "", nil //nolint:nilerr // an authorization request, then, or nothing authentic
	}
	var n nextPath
	if err := json.Unmarshal(plain, &n); err != nil {
		return "", refusal.Forbid()
	}
	if p.Now().Sub(n.Created) >= p.RequestLife {
		expired := refusal.New(http.StatusBadRequest, refusal.Expired, "")
		return "", page.WithView(expired, func(v *webui.ErrorView) { v.Retry = n.Path })
	}
	return n.Path, nil
}
