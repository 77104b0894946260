package authserver

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/webui"
)

// issue makes the code and sends the browser back with it. The code is a function of
// the request, so a form that is submitted twice yields the same one; when that was
// used meanwhile there is nothing left to give.
func (s *signIn) issue(w http.ResponseWriter, r *http.Request, req request, session browserSession) {
	keys, err := s.Keys(r.Context())
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	now := s.Now()
	value := encode(keys.MAC("code", []byte(req.ID), []byte(req.Client), []byte(session.Subject)))
	code := store.Code{
		State: store.CodeIssued, Dialect: store.DialectOAuth, Client: req.Client, Subject: session.Subject,
		Scopes: req.Scopes, RedirectURI: req.RedirectURI, Challenge: req.Challenge, Nonce: req.Nonce,
		AuthTime: session.AuthTime, IssuedAt: now, Expires: now.Add(s.Lifetimes.Code),
		Session: session.id, Grant: secret.ID(),
	}
	encoded, err := store.Encode(&code)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(value)}
	_, err = s.Store.Create(r.Context(), store.Record{Key: key, Value: encoded, Expires: code.Expires})
	if errors.Is(err, store.ErrExists) {
		var unused bool
		if unused, err = s.unused(r, key); err == nil && !unused {
			s.errorPage(w, r, http.StatusBadRequest, webui.ErrorView{Code: "already_answered", Retry: s.again(req)})
			return
		}
	}
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	s.redirect(w, r, req, url.Values{"code": {value}})
}

func (s *signIn) unused(r *http.Request, key store.Key) (bool, error) {
	record, err := s.Store.Get(r.Context(), key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // expired in this very moment
	}
	if err != nil {
		return false, err
	}
	var code store.Code
	err = store.Decode(record.Value, &code)
	return code.State == store.CodeIssued, err
}
