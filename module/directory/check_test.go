package directory_test

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/token"
)

func TestUsersThatMustNotBeGivenOutAreFound(t *testing.T) {
	if err := (directory.User{ID: "u-1", Username: "zo\u00eb", Picture: "https://img.example/zoe.png"}).Check(); err != nil {
		t.Error(err)
	}
	cases := map[string]struct {
		user directory.User
		want string
	}{
		"a client's subject (K01)": {directory.User{ID: token.ClientSubject + "web", Username: "ann"}, "kept for clients"},
		"no id":                    {directory.User{Username: "ann"}, "id is missing"},
		"an id beyond ASCII":       {directory.User{ID: "\u00fc", Username: "ann"}, "printable ASCII"},
		"an id too long":           {directory.User{ID: strings.Repeat("x", 256), Username: "ann"}, "at most 255"},
		"no name":                  {directory.User{ID: "1"}, "username is missing"},
		"a name that is no UTF-8":  {directory.User{ID: "1", Username: "ann\xff"}, "not UTF-8"},
		"a line break":             {directory.User{ID: "1", Username: "ann", Nickname: "a\nb"}, "control character"},
		"a script":                 {directory.User{ID: "1", Username: "ann", Picture: "javascript:alert(1)"}, "https"},
	}
	for name, c := range cases {
		if err := c.user.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
