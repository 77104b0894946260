package translate

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Locate turns an upstream's address into the client's, if there is one for that use.
type Locate func(location string, u Use) (string, bool)

// Use is what a client is to do with an address.
type Use int

// The uses of an address.
const (
	Any    Use = iota // to read it, if clients can, else to change it
	Read              // to read it
	Repeat            // to send the same request there
)

// rewriteRedirect sends the client to the upstream's target, by the client's address. After a creation the
// target may be the new resource; any other target, such as a sign-in page, does not show that there is one.
func (w *Writer) rewriteRedirect(h http.Header) {
	location := h.Get("Location")
	if w.status == http.StatusMultipleChoices && location == "" && w.config.Answer.Plan == nil && envelope.IsJSON(mediaOf(h)) {
		w.rewriteLocations()
		w.sendHeader() // no redirect: a list of what there is to choose from
		return
	}
	if location == "" || w.config.Locate == nil {
		w.sendRedirect()
		return
	}
	a := w.config.Answer
	found := w.status == http.StatusFound || w.status == http.StatusSeeOther
	if found {
		if item, ok := w.config.Locate(location, Any); ok && a.IsUnreadableNewItem(item) {
			w.status = http.StatusCreated
			h.Del("Location")
			w.sendRedirect()
			return
		}
	}
	to, ok := w.config.Locate(location, w.useOfRedirect())
	if !ok {
		w.failure = &Failure{Redirect, errors.New("no declared operation has its target with the method that a client would use there")}
		return
	}
	if a.Declares() && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//")) {
		w.failure = &Failure{Redirect, errors.New("it leads to another host, expected JSON as is declared")}
		return
	}
	h.Set("Location", to)
	switch {
	case !found:
	case w.keepsMethod():
		w.status = http.StatusSeeOther
	case a.IsNewItem(to) && a.Shape.Readable:
		w.status = a.Status
	}
	w.sendRedirect()
}

// useOfRedirect returns what a client does that follows the redirect.
func (w *Writer) useOfRedirect() Use {
	switch w.status {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return Repeat
	case http.StatusMovedPermanently:
		if w.keepsMethod() {
			return Repeat
		}
	}
	return Read
}

// keepsMethod reports whether clients that follow a 301 or 302 repeat the method of the request, and with it the change:
// they make a GET of a POST alone (Fetch, section 4.4). By 302, form APIs mean that it is done, and what to read next.
func (w *Writer) keepsMethod() bool {
	switch cmp.Or(w.config.Method, w.config.Answer.Method) {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return false
	}
	return true
}

// sendRedirect sends the header of a redirect, and its body only if the request is undeclared. The body is a page that
// repeats the upstream's own target, with its host and every parameter, or a resource that is not translated.
// Content-Location describes that body.
func (w *Writer) sendRedirect() {
	if w.config.Answer.Unchanged() {
		w.rewriteLocation("Content-Location", Read)
	} else {
		w.dropBody(w.status)
		w.Header().Del("Content-Location")
	}
	w.sendHeader()
}

// rewriteLocations translates the addresses in the header, and removes those that have no counterpart.
func (w *Writer) rewriteLocations() {
	w.rewriteLocation("Location", Any)
	w.rewriteLocation("Content-Location", Read)
}

// rewriteLocation does so for one field.
func (w *Writer) rewriteLocation(name string, u Use) {
	h := w.Header()
	at := h.Get(name)
	if at == "" || w.config.Locate == nil {
		return
	}
	if to, ok := w.config.Locate(at, u); ok && !w.config.Answer.IsUnreadableNewItem(to) {
		h.Set(name, to)
	} else {
		h.Del(name)
	}
}
