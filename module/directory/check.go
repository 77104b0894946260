package directory

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a user's fields.
const (
	MaxID       = 255 // OpenID Connect Core section 2: a subject has at most 255 ASCII characters
	MaxUsername = 256 // bytes
)

// clientSubject begins the subjects of tokens that applications have for themselves.
const clientSubject = "client:"

// Check reports what a directory must not give out: an ID or a user name that is
// missing, too long or of the wrong characters, a control character in any text, and
// a picture that is no https URL. The user name is expected in its canonical spelling.
func (u User) Check() error {
	switch {
	case u.ID == "":
		return errors.New("the id is missing")
	case len(u.ID) > MaxID || strings.ContainsFunc(u.ID, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("the id must be at most %d printable ASCII characters without spaces", MaxID)
	case strings.HasPrefix(u.ID, clientSubject):
		return fmt.Errorf("the id begins with %q, which is kept for clients", clientSubject)
	case u.Username == "":
		return errors.New("the username is missing")
	case len(u.Username) > MaxUsername:
		return fmt.Errorf("the username is longer than %d bytes", MaxUsername)
	case u.Username != strings.TrimSpace(u.Username):
		return errors.New("the username begins or ends with a space")
	}
	for _, text := range []string{u.Username, u.Name, u.Nickname, u.Picture, u.Email, u.Phone} {
		if !utf8.ValidString(text) {
			return errors.New("a text is not UTF-8")
		}
		if strings.ContainsFunc(text, unicode.IsControl) {
			return errors.New("a text has a control character in it")
		}
	}
	if u.Picture != "" {
		if at, err := url.Parse(u.Picture); err != nil || at.Scheme != "https" || at.Host == "" {
			return errors.New("the picture must be an https URL")
		}
	}
	return nil
}
