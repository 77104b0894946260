package directory_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

func TestInvalidUsersAreFound(t *testing.T) {
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

func TestInvalidProfileFieldsAreOmitted(t *testing.T) {
	odd := directory.User{
		ID: "u-1", Username: "ann", Name: "Ann\x00", Nickname: "\xff", Picture: "javascript:alert(1)", Email: "a\nb", Phone: "\u0085",
		Locked: true, Claims: map[string]any{"department": "press"},
	}
	want := directory.User{ID: "u-1", Username: "ann", Locked: true, Claims: odd.Claims}
	if got := odd.Presentable(); !reflect.DeepEqual(got, want) || got.Check() != nil {
		t.Errorf("%+v, %v", got, got.Check())
	}
	good := directory.User{
		ID: "u-1", Username: "ann", Name: "Ann", Nickname: "Annie", Picture: "https://img.example/ann.png", Email: "ann@example.com", Phone: "+1",
	}
	if got := good.Presentable(); !reflect.DeepEqual(got, good) {
		t.Errorf("%+v", got)
	}
	for _, picture := range []string{"http://localhost:8080/a.svg", "http://127.0.0.1/a", "http://[::1]:80/a"} { // for trying things out
		if got := (directory.User{Picture: picture}).Presentable().Picture; got != picture {
			t.Errorf("the picture %s is left out", picture)
		}
	}
	for _, picture := range []string{"http://img.example/a", "https:///a", "//img.example/a", "https://%zz", "http://localhost.example/a", "http://10.0.0.1/a", "ftp://localhost/a"} {
		if got := (directory.User{Picture: picture}).Presentable().Picture; got != "" {
			t.Errorf("the picture %s stays", got)
		}
	}
}

func TestInvalidUsernames(t *testing.T) {
	longest := strings.Repeat("x", directory.MaxUsername)
	for typed, want := range map[string]string{"ann": "ann", "zoe\u0308": "zo\u00eb", "Ann B": "Ann B", longest: longest} {
		if name, ok := directory.Typed(typed); !ok || name != want {
			t.Errorf("%+q: %+q, %t", typed, name, ok)
		}
	}
	for _, typed := range []string{"", " ", " ann", "ann ", "ann\u00a0", "ann\x00", "ann\n", "a\u0085", "ann\xff", longest + "x", strings.Repeat("ann", 1<<20)} {
		if _, ok := directory.Typed(typed); ok {
			t.Errorf("%.40q is a name", typed)
		}
	}
}
