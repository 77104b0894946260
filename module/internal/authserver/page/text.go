package page

import (
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/directory"
)

// DisplayName is what a person is called on our pages besides the user name; "" when the
// directory knows nothing else.
func DisplayName(user directory.User) string {
	for _, name := range []string{user.Name, user.Nickname} {
		if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, user.Username) {
			return name
		}
	}
	return ""
}

// Destination is what a page says about where the browser goes: the host, or the scheme where a
// private-use scheme is all there is to recognise.
func Destination(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	if err != nil {
		return ""
	}
	if u.Host != "" {
		return u.Host
	}
	return u.Scheme + ":"
}

// UserCode writes a device's short code as people read and type it best.
func UserCode(code string) string {
	half := len(code) / 2
	return code[:half] + "-" + code[half:]
}
