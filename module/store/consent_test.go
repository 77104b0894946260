package store

import (
	"fmt"
	"slices"
	"testing"
)

func TestConsentCoversOnlyWhatWasAllowedOnThatPage(t *testing.T) { // N07
	c := Consent{}.Allow("p", []string{"a"}).Allow("q", []string{"c"}).Allow("p", []string{"b", "a"})
	for _, x := range []struct {
		page   string
		scopes []string
		want   bool
	}{
		{"p", nil, true}, {"p", []string{"a"}, true}, {"p", []string{"b", "a", "a"}, true}, {"q", []string{"c"}, true},
		{"p", []string{"a", "c"}, false}, {"q", []string{"a"}, false}, {"p", []string{"A"}, false}, {"p", []string{""}, false},
		{"r", nil, false}, {"", nil, false},
	} {
		if got := c.Covers(x.page, x.scopes); got != x.want {
			t.Errorf("Covers(%q, %q) = %v", x.page, x.scopes, got)
		}
	}
	if !slices.Equal(c.Scopes, []string{"a", "c", "b"}) {
		t.Errorf("all scopes: %q", c.Scopes)
	}
	if len(c.Pages) != 2 {
		t.Errorf("%d pages", len(c.Pages))
	}
	if before := (Consent{Scopes: []string{"a"}}); before.Covers("", []string{"a"}) || before.Covers("p", []string{"a"}) {
		t.Error("a consent of a release that kept no pages spares a question")
	}
}

func TestAllowDoesNotModifyTheOriginalConsent(t *testing.T) {
	c := Consent{}.Allow("p", []string{"a"}).Allow("q", []string{"a"})
	c.Scopes, c.Pages = slices.Grow(c.Scopes, 9), slices.Grow(c.Pages, 9)
	_ = c.Allow("p", []string{"b"})
	if c.Covers("p", []string{"b"}) || !c.Covers("p", []string{"a"}) || !c.Covers("q", []string{"a"}) || len(c.Scopes) != 1 {
		t.Errorf("%+v", c)
	}
}

func TestConsentPagesAreLimited(t *testing.T) {
	var c Consent
	for i := range maxConsentPages + 5 {
		c = c.Allow(fmt.Sprint(i), []string{"a"}).Allow("often used", []string{"a"})
	}
	if len(c.Pages) != maxConsentPages || !c.Covers("often used", []string{"a"}) || !c.Covers("20", []string{"a"}) || c.Covers("4", []string{"a"}) {
		t.Errorf("%+v", c.Pages)
	}
}
