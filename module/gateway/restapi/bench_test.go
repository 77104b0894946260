package restapi

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// answerHead is the header of an ordinary API's answer.
var answerHead = http.Header{
	"Content-Type": {"application/json; charset=utf-8"}, "Date": {"Sun, 22 Nov 2026 20:00:00 GMT"}, "Server": {"Apache"},
	"X-Powered-By": {"PHP/8.4"}, "Cache-Control": {"no-cache"}, "Etag": {`"1"`},
}

func BenchmarkAnItem(b *testing.B) {
	served(b, "/articles/8", `{"result":{"aid":8,"subject":"Maps","body":"`+strings.Repeat("Words. ", 40)+`"}}`)
}

func BenchmarkAList(b *testing.B) {
	one := `{"aid":8,"subject":"Maps","body":"` + strings.Repeat("Words. ", 40) + `"}`
	served(b, "/articles?limit=20", `{"result":{"list":[`+strings.Repeat(one+",", 19)+one+`],"total":"31"}}`)
}

// served is an answer through the whole handler.
func served(b *testing.B, path, body string) {
	h := &REST{Lint: "off", Resources: []resource.Resource{{
		Path: "articles", Item: "/result", ID: "/aid", Rename: map[string]string{"id": "aid", "title": "subject"},
		List: &list.Config{Items: "/result/list", Total: "/result/total"},
	}}}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	if err := h.Provision(ctx); err != nil {
		b.Fatal(err)
	}
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		for name, values := range answerHead {
			w.Header()[name] = append([]string(nil), values...)
		}
		w.WriteHeader(http.StatusOK)
		_, err := io.WriteString(w, body)
		return err
	})
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept", "application/json")
		w := responsewriter.NewRecorder(1 << 20)
		w.Header()["Server"] = []string{"Caddy"}
		r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, new(caddyhttp.Server))
		if err := h.ServeHTTP(w, r, next); err != nil || w.Status() != http.StatusOK {
			b.Fatal(err, w.Status())
		}
	}
}
