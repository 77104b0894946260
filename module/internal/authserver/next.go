package authserver

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/webui"
)

// useNext seals where a sign-in leads that no authorization request asked for.
const useNext = "next"

// maxNext is the longest address that a sign-in leads to, in bytes.
const maxNext = 1024

// next is a path of ours to go to after signing in. It travels in the form as an
// authorization request does, sealed and bound to the browser, and takes that one's
// place in it, so that login pages of an operator's own carry it too. Never does an address
// say where to go: that would be an open redirector, or a way to make somebody sign in
// for a page that somebody else chose.
type next struct {
	Path    string    `json:"next"`
	Created time.Time `json:"at"`
}

var errNext = errors.New("authserver: only paths of our own are sealed")

func (s *signIn) sealNext(b browser, path string) (string, error) {
	if len(path) > maxNext || !strings.HasPrefix(path, s.base+"/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "", errNext
	}
	plain, err := json.Marshal(next{Path: path, Created: s.Now()})
	if err != nil {
		return "", err
	}
	return b.keys.Seal(useNext, plain, []byte(b.id)), nil
}

// openNext gives the path that a form brought back, "" when it brought none. One that
// took too long is an offer to begin again.
func (s *signIn) openNext(b browser, sealed string) (string, error) {
	plain, err := b.keys.Open(useNext, sealed, []byte(b.id))
	if err != nil {
		return "", nil //nolint:nilerr // an authorization request, then, or nothing authentic
	}
	var n next
	if err := json.Unmarshal(plain, &n); err != nil {
		return "", errForbidden
	}
	if s.Now().Sub(n.Created) >= s.Lifetimes.Request {
		return "", page.WithView(refusal.New(http.StatusBadRequest, refusal.Expired, ""), func(v *webui.ErrorView) { v.Retry = n.Path })
	}
	return n.Path, nil
}
