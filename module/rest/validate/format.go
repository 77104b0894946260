package validate

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// formats are the known formats of texts, and the messages about other texts.
var formats = map[string]struct {
	fits func(text string) bool
	form string
}{
	"date": {func(s string) bool {
		_, err := time.Parse(time.DateOnly, s)
		return err == nil
	}, "a date such as 2026-01-31"},
	"date-time": {func(s string) bool {
		// RFC 3339 has no comma before fractions; t and z may be in lower case.
		_, err := time.Parse(time.RFC3339, strings.ToUpper(s))
		return err == nil && len(s) > 10 && s[10] != ' ' && !strings.Contains(s, ",")
	}, "a time such as 2026-01-31T12:00:00Z"},
	"email": {func(s string) bool {
		a, err := mail.ParseAddress(s)
		return err == nil && a.Name == "" && a.Address == s && len(s) <= 254
	}, "an email address"},
	"uri": {func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.Scheme != "" && (u.Opaque != "" || u.Host != "" || u.Path != "") &&
			!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > unicode.MaxASCII || strings.ContainsRune("<>\"\\^`{|}", r) })
	}, "an address with a scheme, such as https://example.com/"},
	"uuid": {regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`).MatchString, "a UUID"},
}
