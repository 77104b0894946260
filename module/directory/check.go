package directory

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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
	if err := CheckID(u.ID); err != nil {
		return err
	}
	switch {
	case u.Username == "":
		return fieldError("username", "the username is missing")
	case len(u.Username) > MaxUsername:
		return fieldError("username", "the username is longer than %d bytes", MaxUsername)
	case u.Username != strings.TrimSpace(u.Username):
		return fieldError("username", "the username begins or ends with a space")
	}
	for _, text := range []string{u.Username, u.Name, u.Nickname, u.Picture, u.Email, u.Phone} {
		if !utf8.ValidString(text) {
			return errors.New("a text is not UTF-8")
		}
		if strings.ContainsFunc(text, unicode.IsControl) {
			return errors.New("a text has a control character in it")
		}
	}
	if u.Picture != "" && !isPicture(u.Picture) {
		return fieldError("picture", "the picture must be an https URL")
	}
	return nil
}

// CheckID is Check for an ID alone. Directories look nobody up under an ID that fails.
func CheckID(id string) error {
	switch {
	case id == "":
		return fieldError("id", "the id is missing")
	case len(id) > MaxID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fieldError("id", "the id must be at most %d printable ASCII characters without spaces", MaxID)
	case strings.HasPrefix(id, clientSubject):
		return fieldError("id", "the id begins with %q, which is kept for clients", clientSubject)
	}
	return nil
}

// Presentable returns the user without the optional texts that Check refuses. Other
// programs let those in and live with them, so they are no reason to keep a user out.
func (u User) Presentable() User {
	for _, text := range []*string{&u.Name, &u.Nickname, &u.Picture, &u.Email, &u.Phone} {
		if !utf8.ValidString(*text) || strings.ContainsFunc(*text, unicode.IsControl) {
			*text = ""
		}
	}
	if !isPicture(u.Picture) {
		u.Picture = ""
	}
	return u
}

// isPicture reports whether it is an https URL, or one of http on this machine, where
// there is no network to look into it.
func isPicture(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return false
	}
	addr, _ := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || addr.IsLoopback())
}

// Typed returns what somebody typed as a user name in Unicode normal form C, which systems type in different ways. ok
// is false for what no user is called: servers drop blanks around a name and control characters, so that one user
// would have many names, and normalizing a name of many megabytes would be free work for a stranger.
func Typed(username string) (name string, ok bool) {
	if len(username) > 4*MaxUsername || !utf8.ValidString(username) {
		return "", false
	}
	name = norm.NFC.String(username)
	return name, name != "" && len(name) <= MaxUsername && name == strings.TrimSpace(name) && !strings.ContainsFunc(name, unicode.IsControl)
}
