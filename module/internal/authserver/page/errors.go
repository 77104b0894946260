package page

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// withView is an error and what its page shows besides code and description.
type withView struct {
	error
	view webui.ErrorView // without Code and Detail
}

func (e withView) Unwrap() error { return e.error }

// WithView changes what the page of an error shows besides code and description.
func WithView(err error, change func(*webui.ErrorView)) error {
	shown := withView{error: err}
	errors.As(err, &shown)
	change(&shown.view)
	return shown
}

// InLanguage shows a refusal in the language that the request asked for.
func InLanguage(err error, language string) error {
	if _, refused := refusal.From(err); !refused {
		return err
	}
	return WithView(err, func(v *webui.ErrorView) { v.Lang = language })
}

// InFrame allows a client's site to frame the page of an error.
func InFrame(err error, client *oauth.Client) error {
	if err == nil {
		return nil
	}
	return WithView(err, func(v *webui.ErrorView) { v.Frames = client.FrameOrigins })
}

// ownWords maps codes of refusals to those of pages with a text of their own.
var ownWords = map[oauth.Code]string{oauth.SlowDown: "too_many", oauth.TemporarilyUnavailable: "unavailable"}

// fail is the only place that answers errors of page handlers. An error of no known type is a fault of store,
// directory or keys: 503, never a verdict on a password, and never a redirect, because the client can do nothing.
func (p *Writer) fail(w http.ResponseWriter, r *http.Request, err error) {
	var back redirected
	if errors.As(err, &back) {
		p.redirectError(w, r, back)
		return
	}
	if httpx.IsGone(r.Context(), err) {
		w.WriteHeader(httpx.StatusClientGone)
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
	var shown withView
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

// ReadForm reads the form of a request. Its errors are refusals.
func ReadForm(r *http.Request) (httpx.Form, error) {
	form, err := httpx.ReadForm(r)
	return form, BodyError(err)
}

// BodyError returns the refusal for a body that could not be read, nil for nil. If the connection broke, that is
// the sender's fault.
func BodyError(err error) error {
	var form *httpx.FormError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &form):
		return oauth.E(oauth.InvalidRequest, "the body could not be read")
	}
	code := oauth.InvalidRequest
	switch form.Status {
	case http.StatusRequestEntityTooLarge:
		code = refusal.TooLarge
	case http.StatusRequestTimeout:
		code = refusal.TooSlow
	}
	return refusal.New(form.Status, code, form.Reason)
}
