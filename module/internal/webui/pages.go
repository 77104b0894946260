package webui

import (
	"bytes"
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"sync"

	"golang.org/x/text/language"
)

// Pages renders the pages. It is safe for concurrent use.
type Pages struct {
	config   Config
	sets     map[string]*template.Template // by page
	texts    map[string]texts              // by language
	matcher  language.Matcher
	style    template.HTML
	icon     template.URL
	security http.Header
}

// New parses all pages and renders each in every language; an invalid template or translation is an error with its
// file and line. The built-in pages are rendered once per process.
func New(c Config) (*Pages, error) {
	if err := c.setDefaults(); err != nil {
		return nil, err
	}
	p := &Pages{config: c}
	files, err := openFiles(c.Templates)
	if err != nil {
		return nil, err
	}
	if err := p.loadStyle(files); err != nil {
		return nil, err
	}
	if err := p.loadTexts(files); err != nil {
		return nil, err
	}
	return p, p.loadTemplates(files)
}

// Login writes the sign-in page: fields username, password, request and token.
func (p *Pages) Login(w http.ResponseWriter, status int, v LoginView) {
	p.writePage(w, status, "login", v.Lang, v)
}

// Consent writes the consent page: fields decision ("allow", "deny" or, if the reader is another
// person, "switch"), request and token.
func (p *Pages) Consent(w http.ResponseWriter, status int, v ConsentView) {
	p.writePage(w, status, "consent", v.Lang, v)
}

// Logout writes the sign-out page: fields request and token, none when done.
func (p *Pages) Logout(w http.ResponseWriter, status int, v LogoutView) {
	p.writePage(w, status, "logout", v.Lang, v)
}

// Account writes the account page: fields token and, for the pressed button, one of withdraw (an
// application's ID), end (a session's ID) and all ("others" or "everything").
func (p *Pages) Account(w http.ResponseWriter, status int, v AccountView) {
	h := p.security.Clone()
	if v.Script != "" {
		if !originSource.MatchString(v.Origin) || !pathSource.MatchString(v.Script) {
			p.writeFailure(w, "account", errors.New("webui: the script of the account page is not at a plain path of an origin"))
			return
		}
		h.Set("Content-Security-Policy", h.Get("Content-Security-Policy")+"; script-src "+v.Origin+v.Script)
	}
	p.writeWith(w, status, "account", v.Lang, v, h)
}

// Home writes the page at the issuer's own address.
func (p *Pages) Home(w http.ResponseWriter, status int, v HomeView) {
	p.writePage(w, status, "home", v.Lang, v)
}

// Error writes an error page. An unknown Code is shown like server_error, and a Retry that leads elsewhere is
// omitted.
func (p *Pages) Error(w http.ResponseWriter, status int, v ErrorView) {
	h := p.security.Clone()
	if err := mayFrame(h, v.Frames); err != nil {
		p.writeFailure(w, "error", err)
		return
	}
	p.writeWith(w, status, "error", v.Lang, v, h)
}

// bodies are buffers for pages. Under overload, every refused request gets a page, and the
// garbage would slow down all other responses.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKept is the maximum size of a buffer that is reused, in bytes: only long lists exceed it.
const maxKept = 64 << 10

func (p *Pages) writePage(w http.ResponseWriter, status int, page, lang string, view any) {
	p.writeWith(w, status, page, lang, view, p.security)
}

func (p *Pages) writeWith(w http.ResponseWriter, status int, page, lang string, view any, security http.Header) {
	body := bodies.Get().(*bytes.Buffer)
	defer func() {
		if body.Cap() <= maxKept {
			body.Reset()
			bodies.Put(body)
		}
	}()
	tag, err := p.renderPage(body, page, lang, view)
	if err != nil {
		p.writeFailure(w, page, err)
		return
	}
	h := w.Header()
	h.Set("Content-Language", tag)
	writeResponse(w, status, security, "text/html; charset=utf-8", body.Bytes())
}

// writeFailure responds if a page cannot be shown.
func (p *Pages) writeFailure(w http.ResponseWriter, page string, err error) {
	p.config.Log.Error("page not rendered", "page", page, "error", err)
	writeResponse(w, http.StatusInternalServerError, p.security, "text/plain; charset=utf-8", []byte("This page could not be shown. Please try again later.\n"))
}

func writeResponse(w http.ResponseWriter, status int, security http.Header, contentType string, body []byte) {
	h := w.Header()
	for name, values := range security {
		if name == openerPolicy && h.Get(name) == openerKept {
			continue
		}
		h[name] = []string{values[0]}
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only when the browser has gone
}

// renderPage renders a page and returns the tag of its language.
func (p *Pages) renderPage(to *bytes.Buffer, page, lang string, view any) (string, error) {
	t, ok := p.texts[lang]
	if !ok {
		lang = p.config.Languages[0]
		t = p.texts[lang]
	}
	d := data{
		now: p.config.Now, Site: p.config.Name, Logo: p.config.Logo, Wordmark: p.config.Wordmark, Links: p.config.Links,
		LanguagePath: p.config.LanguagePath, Style: p.style, Icon: p.icon, View: view, texts: t,
	}
	d.Lang, d.OtherLanguages = t["html.lang"], p.otherLanguages(lang)
	d.fill = map[string]string{"site": d.Site}
	action := "/" // of the form, which must not post a password to another host
	switch v := view.(type) {
	case LoginView:
		d.fill["client"], d.Resume, action = v.Client, v.Request, v.Action
	case ConsentView:
		d.fill["client"], d.fill["host"], d.fill["user"], d.Resume, action = v.Client, v.Host, v.User, v.Request, v.Action
	case LogoutView:
		d.fill["user"], d.fill["client"] = v.User, v.Client
		if !v.Done {
			action = v.Action
		}
	case AccountView:
		d.fill["user"], action = v.User, v.Action
	case ConfirmView:
		d.fill["client"], d.fill["host"], d.fill["user"] = v.Client, v.Host, v.User
		if v.Done == "" {
			action = v.Action
		}
	case EnterCodeView:
		d.fill["user"], action = v.User, v.Action
	case QRView:
		if err := d.setQR(v); err != nil {
			return "", err
		}
	case ErrorView:
		if t["error."+v.Code+".heading"] == "" {
			v.Code = "server_error"
		}
		if !samePath(v.Retry) {
			v.Retry = ""
		}
		v.Sent = inertAddress(v.Sent)
		d.View = v
	}
	if !samePath(action) {
		return "", errors.New("webui: the form's action is not an absolute path")
	}
	return d.Lang, p.sets[page].ExecuteTemplate(to, "layout.html", d)
}
