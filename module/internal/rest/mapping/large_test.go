package mapping_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// However many large bodies come at once, few are encoded.
func TestLargeBodiesAreEncodedInTurns(t *testing.T) {
	all, err := routes.New([]resource.Resource{{Path: "things", Routes: []resource.Route{
		{Method: "POST", Path: "/things/form", Upstream: "/f", As: "form"}, {Method: "POST", Path: "/things/parts", Upstream: "/m", As: "multipart"},
		{Method: "POST", Path: "/things/xml", Upstream: "/x", As: "xml", XMLRoot: "thing"}, {Method: "POST", Path: "/things/json", Upstream: "/j", As: "json"},
		{Method: "POST", Path: "/things/call", Upstream: "/c", RPC: &resource.RPC{Protocol: "xml", Method: "add", Params: "[{body}]"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	send := func(path, body string) *envelope.Refusal {
		m, _, refused := all.Match("POST", path)
		if refused != nil {
			t.Fatal(path, refused)
		}
		_, refused = m.Operation.Requests.Request(m.Values, mapping.Asked{Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)})
		return refused
	}
	small, large := `{"a":[1,2]}`, `{"a":"`+strings.Repeat("x", 64<<10)+`"}`
	synctest.Test(t, func(t *testing.T) {
		few := turns.New(1)
		defer mapping.SetLargeTurns(few)()
		for _, path := range []string{"/things/form", "/things/parts", "/things/xml", "/things/call"} {
			done, err := few.Take(turns.Caller{})
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			if refused := send(path, small); refused != nil || time.Since(begun) != 0 {
				t.Errorf("%s: a small body: %v after %v", path, refused, time.Since(begun))
			}
			if refused := send(path, large); refused == nil || refused.Status != 503 || refused.Header.Get("Retry-After") == "" || time.Since(begun) != turns.Patience {
				t.Errorf("%s: a large body without a turn: %v after %v", path, refused, time.Since(begun))
			}
			time.AfterFunc(time.Second, done)
			for range 2 { // each gives its turn back
				if refused := send(path, large); refused != nil || time.Since(begun) != turns.Patience+time.Second {
					t.Errorf("%s: a large body: %v after %v", path, refused, time.Since(begun))
				}
			}
		}
		done, err := few.Take(turns.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		begun := time.Now()
		if refused := send("/things/json", large); refused != nil || time.Since(begun) != 0 {
			t.Errorf("a large body in JSON: %v after %v", refused, time.Since(begun))
		}
	})
}
