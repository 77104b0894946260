package answer

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// Total returns the number of all elements of a list, nil if it is not known. e is the editor of the body;
// whole says that it has seen all of it.
func (a *Answer) Total(e *splice.Editor, h http.Header, whole bool) *int64 {
	if a.listLike != nil {
		return a.listLikeTotal(e, h)
	}
	if a.TotalHeader != "" {
		return a.spec.resource().List.HeaderTotal(h)
	}
	if a.hasTotal {
		if s := e.Captured(0); s.Kind == splice.Number || s.Kind == splice.String {
			return list.ReadTotal(s.Text)
		}
		return nil
	}
	if whole && a.spec.resource().List.Local() && a.complete(e) {
		n := e.Elements()
		return &n
	}
	return nil
}

// Seen returns what is known of a list when its header is sent.
func (a *Answer) Seen(e *splice.Editor, h http.Header, whole bool) list.Seen {
	s := list.Seen{Total: a.Total(e, h, whole), Elements: -1}
	if whole {
		s.Elements = e.Elements()
	}
	return s
}

// CompletePage completes the page of a list when all of its elements have been seen.
func (a *Answer) CompletePage(e *splice.Editor, h http.Header) {
	a.exceeded = a.List.Exceeded(e.Elements())
	if a.listLike == nil {
		if l := a.spec.resource().List; l.Local() && l.Complete == nil && l.Total+l.TotalHeader == "" && list.IsRound(e.Elements()) {
			a.cutAt = e.Elements()
		}
	}
	if a.listLike != nil {
		a.List.Fit(firstNumber(e, len(totalNames), len(limitNames)), a.listLikeTotal(e, h), e.Elements())
	}
}

// Exceeded reports whether the upstream gave more elements of a list than it was asked for, and of which
// resource. It is known when the answer has been translated.
func (a *Answer) Exceeded() (path string, ok bool) {
	if !a.exceeded {
		return "", false
	}
	return a.spec.resource().Path, true
}

// HasPageLinks reports whether links to other pages can be given. e is the editor of the body.
func (a *Answer) HasPageLinks(e *splice.Editor, h http.Header) bool {
	return a.listLike == nil || a.List.Linked(a.listLikeTotal(e, h), e.Elements()) && !(a.ownPages() && relatesPages(h))
}

// complete reports whether no declared condition says that the list has more elements than came. A cursor
// is not considered.
func (a *Answer) complete(e *splice.Editor) bool {
	l, s := a.spec.resource().List, a.spec.Shape
	return l.Complete == nil || l.Complete.Holds(e.Captured(s.cursorSlot()+len(l.Cursors)))
}

// MayBeCut reports whether a list that is assumed to be complete has a length at which APIs cut lists, and
// no declaration tells whether it was cut. It is known when the answer has been translated.
func (a *Answer) MayBeCut() (path string, elements int64, ok bool) {
	if a.cutAt == 0 {
		return "", 0, false
	}
	return a.spec.resource().Path, a.cutAt, true
}
