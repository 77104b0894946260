package store

import (
	"slices"
	"time"
)

// maxConsentPages bounds the pages of one consent. A client can make as many as it likes by
// changing its name; the user is asked again about one that no longer fits in.
const maxConsentPages = 16

// Consent is what a user has allowed a client once and need not be asked again. It
// is stored under the digest of both ids, with the subject as parent.
type Consent struct {
	schema
	Client  string `json:"client"`
	Subject string `json:"sub"`
	// Scopes are all that was allowed, on whichever page.
	Scopes  []string  `json:"scopes"`
	GivenAt time.Time `json:"at"`
	// Pages are what was allowed on each page, the latest last. Records of releases before
	// pages were kept have none, and spare the user no question.
	Pages []ConsentPage `json:"pages,omitempty"`
	// Pair is the epoch of client and user ([Pair]) before the user allowed it. A later end of
	// both ends the consent too.
	Pair int64 `json:"pair,omitempty"`
}

// ConsentPage is what was allowed on pages that said the same about the client.
type ConsentPage struct {
	Page   string   `json:"page"` // digest of what they said
	Scopes []string `json:"scopes"`
}

// On returns the scopes that were allowed on such a page.
func (c Consent) On(page string) []string {
	if i := c.findPage(page); i >= 0 {
		return c.Pages[i].Scopes
	}
	return nil
}

// Covers reports whether every one of the scopes has been allowed on such a page.
func (c Consent) Covers(page string, scopes []string) bool {
	i := c.findPage(page)
	if i < 0 {
		return false
	}
	for _, s := range scopes {
		if !slices.Contains(c.Pages[i].Scopes, s) {
			return false
		}
	}
	return true
}

// Allow adds scopes that were allowed on a page. The receiver stays as it is.
func (c Consent) Allow(page string, scopes []string) Consent {
	latest := ConsentPage{Page: page}
	c.Pages = slices.Clone(c.Pages)
	if i := c.findPage(page); i >= 0 {
		latest.Scopes = c.Pages[i].Scopes
		c.Pages = slices.Delete(c.Pages, i, i+1)
	}
	latest.Scopes = unionOf(latest.Scopes, scopes)
	c.Pages = append(c.Pages, latest)
	c.Pages = c.Pages[max(0, len(c.Pages)-maxConsentPages):]
	c.Scopes = unionOf(c.Scopes, scopes)
	return c
}

func (c Consent) findPage(page string) int {
	return slices.IndexFunc(c.Pages, func(p ConsentPage) bool { return p.Page == page })
}

// unionOf appends to a copy of a what it lacks of b.
func unionOf(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
