package authserver

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/webui"
)

// errorPage answers with a page that says what is wrong.
func (s *Server) errorPage(w http.ResponseWriter, r *http.Request, status int, v webui.ErrorView) {
	if v.Lang == "" {
		v.Lang = s.Pages.Language(r, "")
	}
	s.Pages.Error(w, status, v)
}

// unavailable is the answer to a fault of the store or the directory: a page, never a
// redirect, and never an answer about the user.
func (s *Server) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	s.Log.Error("a page could not be answered", "error", err)
	w.Header().Set("Retry-After", "1")
	s.errorPage(w, r, http.StatusServiceUnavailable, webui.ErrorView{Code: "unavailable"})
}

// badForm is the answer to a body that is no form of ours.
func (s *Server) badForm(w http.ResponseWriter, r *http.Request, err error) {
	var refused *httpx.FormError
	switch {
	case !errors.As(err, &refused):
		s.errorPage(w, r, http.StatusBadRequest, webui.ErrorView{Code: "invalid_request"})
	case refused.Status == http.StatusRequestEntityTooLarge:
		s.errorPage(w, r, refused.Status, webui.ErrorView{Code: "too_large", Detail: refused.Reason})
	default:
		s.errorPage(w, r, refused.Status, webui.ErrorView{Code: "invalid_request", Detail: refused.Reason})
	}
}

func retryAfter(w http.ResponseWriter, seconds int) {
	w.Header().Set("Retry-After", strconv.Itoa(max(seconds, 1)))
}
