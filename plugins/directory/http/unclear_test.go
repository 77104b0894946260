package http

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/directory"
)

// An endpoint may give such an answer to wrong passwords alone. A fault of its own says nothing about them.
func TestAnswersThatAreNeitherYesNorNoAreUnclear(t *testing.T) {
	e := newEndpoint(t)
	d := opened(t, &Source{URL: e.URL, Lookup: e.URL + "/{id}", OKWhen: &Condition{Pointer: "/code", Values: []string{"0"}}})
	for _, c := range []struct {
		status  int
		body    string
		unclear bool
	}{
		{http.StatusTooManyRequests, `{}`, true}, {http.StatusFound, "", true}, {http.StatusOK, "<html>", true}, {http.StatusOK, `{"code":7}`, true},
		{http.StatusOK, strings.Repeat("x", usualBody+1), true}, {http.StatusInternalServerError, `{}`, false}, {http.StatusInternalServerError, strings.Repeat("x", usualBody+1), false}, {http.StatusBadGateway, "", false},
	} {
		e.says(c.status, c.body)
		_, ok, err := d.Authenticate(t.Context(), "ann", "secret")
		if ok || err == nil || errors.Is(err, directory.ErrUnclear) != c.unclear {
			t.Errorf("%d %.20q: %t, %v", c.status, c.body, ok, err)
		}
	}
	e.says(http.StatusUnauthorized, `{}`)
	if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err != nil {
		t.Errorf("a refusal: %t, %v", ok, err)
	}
}

// So may one that breaks off, by a Content-Length that is wrong in its refusals alone.
func TestAnswersThatBreakOffAreUnclear(t *testing.T) {
	e := newEndpoint(t)
	d := opened(t, &Source{URL: e.URL, Lookup: e.URL + "/{id}"})
	for status, unclear := range map[int]bool{http.StatusUnauthorized: true, http.StatusOK: true, http.StatusInternalServerError: false} {
		answer := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{}`)
		}
		e.answer.Store(&answer)
		if _, ok, err := d.Authenticate(t.Context(), "ann", "secret"); ok || err == nil || errors.Is(err, directory.ErrUnclear) != unclear {
			t.Errorf("%d: %t, %v", status, ok, err)
		}
	}
}
