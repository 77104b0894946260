package store

import (
	"slices"
	"time"
)

// The packed forms of the records of which a site has millions. A release that adds a field appends it, and reads it only
// if there are bytes left: the records of earlier releases end before it.

// beginning is the time from which the first time of a record is counted.
var beginning = time.Unix(0, 0)

func (g *Grant) pack(p *packer) {
	p.text(g.ID)
	p.text(string(g.Dialect))
	p.text(g.Client)
	p.text(g.Subject)
	p.texts(g.Scopes)
	p.texts(g.Resources)
	p.moment(g.IssuedAt, beginning)
	for _, t := range []time.Time{g.AuthTime, g.Expires, g.RotatedAt, g.RetryUntil, g.RevokedAt} {
		p.moment(t, g.IssuedAt)
	}
	p.number(g.Generation)
	p.signed(g.Epochs.Subject)
	p.signed(g.Epochs.Pair)
	p.text(g.Session)
	p.text(g.Code)
	p.text(g.Bound)
}

func (g *Grant) unpack(u *unpacker) {
	g.ID = u.text()
	g.Dialect = Dialect(u.text())
	g.Client = u.text()
	g.Subject = u.text()
	g.Scopes = u.texts()
	g.Resources = u.texts()
	g.IssuedAt = u.moment(beginning)
	for _, t := range []*time.Time{&g.AuthTime, &g.Expires, &g.RotatedAt, &g.RetryUntil, &g.RevokedAt} {
		*t = u.moment(g.IssuedAt)
	}
	g.Generation = u.number()
	g.Epochs = Epochs{Subject: u.signed(), Pair: u.signed()}
	g.Session = u.text()
	g.Code = u.text()
	g.Bound = u.text()
}

func (s *Session) pack(p *packer) {
	p.text(s.Subject)
	p.moment(s.AuthTime, beginning)
	p.moment(s.LastSeen, s.AuthTime)
	p.moment(s.Expires, s.AuthTime)
	p.text(s.UserAgent)
	p.text(s.Address)
	p.signed(s.Epoch)
}

func (s *Session) unpack(u *unpacker) {
	s.Subject = u.text()
	s.AuthTime = u.moment(beginning)
	s.LastSeen = u.moment(s.AuthTime)
	s.Expires = u.moment(s.AuthTime)
	s.UserAgent = u.text()
	s.Address = u.text()
	s.Epoch = u.signed()
}

func (c *Consent) pack(p *packer) {
	p.text(c.Client)
	p.text(c.Subject)
	p.texts(c.Scopes)
	p.moment(c.GivenAt, beginning)
	p.signed(c.Pair)
	p.number(uint64(len(c.Pages)))
	for _, page := range c.Pages {
		p.text(page.Page)
		if slices.Equal(page.Scopes, c.Scopes) { // as there is mostly one page
			p.number(1)
			continue
		}
		p.number(0)
		p.texts(page.Scopes)
	}
}

func (c *Consent) unpack(u *unpacker) {
	c.Client = u.text()
	c.Subject = u.text()
	c.Scopes = u.texts()
	c.GivenAt = u.moment(beginning)
	c.Pair = u.signed()
	c.Pages = nil
	for n := u.number(); n > 0 && u.err == nil; n-- {
		page := ConsentPage{Page: u.text()}
		if u.number() == 1 {
			page.Scopes = slices.Clone(c.Scopes)
		} else {
			page.Scopes = u.texts()
		}
		c.Pages = append(c.Pages, page)
	}
}

func (v *Pair) pack(p *packer) {
	p.text(v.Client)
	p.text(v.Subject)
	p.signed(v.Epoch)
	p.number(uint64(v.Listed)) //nolint:gosec // never negative
	p.number(uint64(len(v.Grants)))
	for _, g := range v.Grants {
		p.text(g.ID)
		p.signed(g.Epoch)
		p.moment(g.Used, beginning)
		p.moment(g.Expires, g.Used)
	}
}

func (v *Pair) unpack(u *unpacker) {
	v.Client = u.text()
	v.Subject = u.text()
	v.Epoch = u.signed()
	v.Listed = PairListing(u.number()) //nolint:gosec // a small number
	v.Grants = nil
	for n := u.number(); n > 0 && u.err == nil; n-- {
		g := PairGrant{ID: u.text(), Epoch: u.signed(), Used: u.moment(beginning)}
		g.Expires = u.moment(g.Used)
		v.Grants = append(v.Grants, g)
	}
}
