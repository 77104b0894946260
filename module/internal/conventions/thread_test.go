package conventions

import (
	"net/http"
	"testing"
)

func TestAListAndItsItemsAreRead(t *testing.T) {
	r := start(t, legacy(t), `"upstream": $TO, `+declared)
	for _, c := range [][]string{
		{"reader", "GET", "/articles?page=2&limit=2&state=published&sort=-created_at", ""},
		{"writer", "GET", "/articles/1001", ""},
		{"reader", "HEAD", "/articles/1001", ""},
		{"reader", "OPTIONS", "/articles/1001", ""},
		{"writer", "PUT", "/articles", `{}`},
		{"writer", "POST", "/articles", `{"title":"Hello, world","body":"x","state":"draft"}`},
		{"writer", "PATCH", "/articles/1001", `{"title":"Hello again"}`},
		{"writer", "PUT", "/articles/1001", `{"title":"Hello again"}`},
		{"writer", "DELETE", "/articles/1001", ""},
		{"writer", "GET", "/articles/1001", ""},
		{"reader", "GET", "/students/3/friends?limit=1", ""},
		{"writer", "DELETE", "/students/3/friends/1", ""},
		{"reader", "GET", "/profile", ""},
		{"reader", "GET", "/api.php", ""},
		{"reader", "GET", "/articles?page=0", ""},
	} {
		p := r.do(c[0], c[1], c[2], c[3])
		t.Log(c, p.Status, p.Header, p.Body)
	}
	_ = http.MethodGet
}
