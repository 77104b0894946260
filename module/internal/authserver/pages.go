package authserver

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

// redirected is a refusal that goes back to the client by redirect (RFC 6749 section 4.1.2.1).
type redirected struct {
	to  callback
	err error
}

func (e *redirected) Error() string { return e.err.Error() }

// shownError is an error with what its page shows besides.
type shownError struct {
	error
	view webui.ErrorView // without Code and Detail
}

func (e shownError) Unwrap() error { return e.error }

// withView changes what the page of an error shows besides code and description.
func withView(err error, change func(*webui.ErrorView)) error {
	shown := shownError{}
	if !errors.As(err, &shown) {
		shown.error = err
	}
	change(&shown.view)
	return shown
}

// inFrame has an error shown in the frames of a client in which the page would have been.
func inFrame(err error, client *oauth.Client, embedded bool) error {
	if err == nil || client == nil || !embedded {
		return err
	}
	return withView(err, func(v *webui.ErrorView) { v.Frames = client.FrameOrigins })
}

// withLang has an error shown in the language the request wished for.
func withLang(err error, lang string) error {
	if _, refused := refusal.From(err); !refused {
		return err
	}
	return withView(err, func(v *webui.ErrorView) { v.Lang = lang })
}

// pageCodes are the codes of protocol refusals whose pages say in their own words what is wrong.
var pageCodes = map[oauth.Code]string{oauth.SlowDown: "too_many", oauth.TemporarilyUnavailable: "unavailable"}

// fail answers for every handler of the browser's half. An error of no known type is
// a fault of store, directory or keys: 503, never an answer about a password, and
// never a redirect, since the client could do nothing about it.
func (s *signIn) fail(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil {
		return
	}
	var form *httpx.FormError
	var back *redirected
	if errors.As(err, &back) {
		e := oauthhttp.AsError(back.err)
		description := oauthhttp.Printable(e.Description)
		s.Log.Info("authorization refused", slog.String("error", string(e.Code)), slog.String("reason", description))
		params := []string{"error", string(e.Code)}
		if !back.to.variantB {
			params = append(params, "error_description", description)
		}
		s.answer(w, r, back.to, params...)
		return
	}
	refused, ok := refusal.From(err)
	switch {
	case ok:
	case errors.As(err, &form):
		code := oauth.InvalidRequest
		switch form.Status {
		case http.StatusRequestEntityTooLarge:
			code = refusal.TooLarge
		case http.StatusRequestTimeout:
			code = refusal.TooSlow
		}
		refused = refusal.New(form.Status, code, form.Reason)
	default:
		s.Log.Error("page not answered", slog.String("path", r.URL.Path), slog.String("request_id", s.RequestID(r)), slog.Any("cause", err))
		refused = refusal.Busy(time.Second)
	}
	if refused.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(refused.RetryAfter))
	}
	shown := shownError{}
	errors.As(err, &shown)
	v := shown.view
	if v.Code, ok = pageCodes[refused.Code]; !ok {
		v.Code, v.Detail = string(refused.Code), refused.Description
	}
	s.errorPage(w, r, refused.Status, v)
}

// errorPage shows an error page, in the language of the browser when v has none.
func (s *Server) errorPage(w http.ResponseWriter, r *http.Request, status int, v webui.ErrorView) {
	if v.Lang == "" {
		v.Lang = s.Pages.Language(r, "")
	}
	v.RequestID = s.RequestID(r)
	s.Log.Debug("error page", slog.String("request_id", v.RequestID), slog.Int("status", status), slog.String("error", v.Code))
	s.Pages.Error(w, status, v)
}
