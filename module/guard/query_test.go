package guard

import (
	"net/http"
	"testing"
)

func TestTokenIsFoundInEveryReferer(t *testing.T) {
	const bare, token = "https://api.example/read?a=b", "https://api.example/read?a=b&access_token=x"
	for _, c := range []struct {
		sent []string
		want bool
	}{
		{nil, false},
		{[]string{bare}, false},
		{[]string{token}, true},
		{[]string{bare, token}, true},
		{[]string{"https://api.example/access_token"}, false},
	} {
		if got := refererCarriesToken(http.Header{"Referer": c.sent}); got != c.want {
			t.Errorf("%q: %t", c.sent, got)
		}
	}
}
