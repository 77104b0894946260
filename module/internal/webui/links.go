package webui

import (
	"fmt"
	"net/url"
)

// Links are the addresses that the pages link to. Each is an https URL or an absolute path on
// the issuer's host; "" omits the link.
type Links struct {
	Help, Privacy, Terms string // at the foot of every page
	Forgot               string // below the password field
}

// CheckLink returns an error if the pages must not link to an address; "" is permitted.
func CheckLink(address string) error {
	if address == "" || samePath(address) {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || !logoHost.MatchString(u.Host) {
		return fmt.Errorf("%q is neither an https URL nor an absolute path", address)
	}
	return nil
}

func (l Links) checkLinks() error {
	for _, link := range []struct{ name, address string }{
		{"help", l.Help}, {"privacy", l.Privacy}, {"terms", l.Terms}, {"forgot", l.Forgot},
	} {
		if err := CheckLink(link.address); err != nil {
			return fmt.Errorf("webui: links: %s: %w", link.name, err)
		}
	}
	return nil
}

// languageLink is a language that a reader can switch to.
type languageLink struct{ Tag, HTML, Name string }

// otherLanguages returns the languages that a page in lang offers instead, named in their own
// language.
func (p *Pages) otherLanguages(lang string) (others []languageLink) {
	for _, tag := range p.config.Languages {
		if t := p.texts[tag]; tag != lang {
			others = append(others, languageLink{tag, t["html.lang"], t["language.name"]})
		}
	}
	return others
}
