package login

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/webui"
)

const (
	useNext     = "next"  // of the keys' secret
	actionLogin = "login" // of the form's token
	// maxNext is the longest address that a sign-in leads to, in bytes.
	maxNext = 1024
)

// Page shows the login page. All fields are needed.
type Page struct {
	*page.Writer
	Sessions *session.Sessions
	Now      func() time.Time
	// Life is how long a sign-in may take.
	Life time.Duration
}

// View is what the login page is shown for.
type View struct {
	Title    string // of the client, "" outside of an authorization request
	Locales  string // that the request wished for
	Next     string // a path of ours to go to, "" for the account page
	Sealed   string // the request or Next as a form carries it, "" to seal Next now
	Username string
	Status   int // default 200
	Failed   bool
	Limited  bool
}

// Show shows the login page.
func (p *Page) Show(w http.ResponseWriter, r *http.Request, b session.Browser, v View) error {
	if v.Next != "" && v.Sealed == "" {
		sealed, err := p.sealNext(b, v.Next)
		if err != nil {
			return err
		}
		v.Sealed = sealed
	}
	if v.Status == 0 {
		v.Status = http.StatusOK
	}
	p.Pages.Login(w, v.Status, webui.LoginView{
		Form: webui.Form{
			Lang: p.Pages.Language(r, v.Locales), Action: p.Site.Base + page.LoginPath,
			Token: b.Token(actionLogin, ""), Request: v.Sealed,
		},
		Client: v.Title, Username: v.Username, Failed: v.Failed, Limited: v.Limited,
	})
	return nil
}

// Require returns who is signed in and may be. If nobody is, it shows the login page, which
// leads to next, a path of ours ("" for the account page), and returns nil.
func (p *Page) Require(w http.ResponseWriter, r *http.Request, b session.Browser, next string) (*session.SignedIn, error) {
	who, err := p.Sessions.Unlocked(r)
	if err != nil || who != nil {
		return who, err
	}
	return nil, p.Show(w, r, b, View{Next: next})
}

// nextPath is a path of ours to go to after signing in. It travels in the form as an
// authorization request does, sealed and bound to the browser, and takes that one's place in it,
// so that login pages of an operator's own carry it too. An address never says where to go: that
// would be an open redirector, or a way to make somebody sign in for a page that somebody else
// chose.
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

// openNext returns the path that a form brought back, "" when it brought none. One that took too
// long is an offer to begin again.
func (p *Page) openNext(b session.Browser, sealed string) (string, error) {
	plain, err := b.Open(useNext, sealed)
	if err != nil {
		return "", nil //nolint:nilerr // an authorization request, then, or nothing authentic
	}
	var n nextPath
	if err := json.Unmarshal(plain, &n); err != nil {
		return "", refusal.Forbid()
	}
	if p.Now().Sub(n.Created) >= p.Life {
		expired := refusal.New(http.StatusBadRequest, refusal.Expired, "")
		return "", page.WithView(expired, func(v *webui.ErrorView) { v.Retry = n.Path })
	}
	return n.Path, nil
}
