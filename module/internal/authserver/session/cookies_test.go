package session

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

func TestCookiesOfABrowser(t *testing.T) {
	c := Cookies{Secure: true}
	w := httptest.NewRecorder()
	want := []string{c.NewBrowser(w), c.NewBrowser(w)}
	frame := c.NewFrame(w)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.AddCookie(&http.Cookie{Name: "__Host-gatehouse-browserx", Value: secret.Token()})
	r.AddCookie(&http.Cookie{Name: "__Host-gatehouse-browser-x", Value: "x"})
	for _, k := range w.Result().Cookies() {
		r.AddCookie(k)
	}
	plain := secret.Token()
	r.AddCookie(&http.Cookie{Name: "__Host-gatehouse-browser", Value: plain}) // as earlier versions set it
	if got := c.BrowserIDs(r); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != plain {
		t.Errorf("got %v, want %v and %s", got, want, plain)
	}
	if got := c.FrameIDs(r); len(got) != 1 || got[0] != frame {
		t.Errorf("got %v, want %s", got, frame)
	}
	w = httptest.NewRecorder()
	for range maxIDs {
		c.NewBrowser(w)
	}
	for _, k := range w.Result().Cookies() {
		r.AddCookie(k)
	}
	if got := c.BrowserIDs(r); len(got) != maxIDs {
		t.Errorf("%d count", len(got))
	}
}
