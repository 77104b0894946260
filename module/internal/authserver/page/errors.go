package page

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// withView is an error with what its page shows besides code and description.
type withView struct {
	error
	view webui.ErrorView // without Code and Detail
}

func (e withView) Unwrap() error { return e.error }

// WithView changes what the page of an error shows besides code and description.
func WithView(err error, change func(*webui.ErrorView)) error {
	shown := withView{}
	if !errors.As(err, &shown) {
		shown.error = err
	}
	change(&shown.view)
	return shown
}

// InLanguage has a refusal shown in the language that the request wished for.
func InLanguage(err error, language string) error {
	if _, refused := refusal.From(err); !refused {
		return err
	}
	return WithView(err, func(v *webui.ErrorView) { v.Lang = language })
}

// InFrame lets the page of an error stand in frames of a client's site.
func InFrame(err error, client *oauth.Client) error {
	if err == nil {
		return nil
	}
	return WithView(err, func(v *webui.ErrorView) { v.Frames = client.FrameOrigins })
}

// ownWords are the codes of refusals whose pages say in their own words what is wrong.
var ownWords = map[oauth.Code]string{oauth.SlowDown: "too_many", oauth.TemporarilyUnavailable: "unavailable"}

// fail is the one place where errors of page handlers are answered. An error of no known type
// is a fault of store, directory or keys: 503, never an answer about a password, and never a
// redirect, since the client could do nothing about it.
func (p *Writer) fail(w http.ResponseWriter, r *http.Request, err error) {
	var back redirected
	if errors.As(err, &back) {
		p.redirectError(w, r, back)
		return
	}
	refused, ok := refusal.From(err)
	if !ok {
		p.Log.Error("page not answered", slog.String("path", r.URL.Path), slog.String("request_id", p.RequestID(r)), slog.Any("cause", err))
		refused = refusal.Busy(time.Second)
	}
	if refused.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(refused.RetryAfter))
	}
	shown := withView{}
	errors.As(err, &shown)
	v := shown.view
	if v.Code, ok = ownWords[refused.Code]; !ok {
		v.Code, v.Detail = string(refused.Code), refused.Description
	}
	p.Error(w, r, refused.Status, v)
}

func (p *Writer) redirectError(w http.ResponseWriter, r *http.Request, back redirected) {
	e := oauthhttp.AsError(back.error)
	text := oauthhttp.Printable(e.Description)
	p.Log.Info("authorization refused", slog.String("error", string(e.Code)), slog.String("reason", text))
	params := []string{"error", string(e.Code)}
	if !back.to.VariantB {
		params = append(params, "error_description", text)
	}
	p.Answer(w, r, back.to, params...)
}

// Error shows an error page, in the language of the browser when v has none.
func (p *Writer) Error(w http.ResponseWriter, r *http.Request, status int, v webui.ErrorView) {
	if v.Lang == "" {
		v.Lang = p.Pages.Language(r, "")
	}
	v.RequestID = p.RequestID(r)
	p.Log.Debug("error page", slog.String("request_id", v.RequestID), slog.Int("status", status), slog.String("error", v.Code))
	p.Pages.Error(w, status, v)
}
