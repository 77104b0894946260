package restapi

import (
	"bytes"
	"net/http"
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/cursor"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// FuzzCursors sends whatever a client can as a cursor: only one that was made for the list
// leads anywhere, and it sends the declared parameters alone.
func FuzzCursors(f *testing.F) {
	keys, err := secret.NewKeys(bytes.Repeat([]byte("k"), secret.MinLength))
	if err != nil {
		f.Fatal(err)
	}
	table, err := routes.New([]resource.Resource{{Path: "things", List: &list.Config{Cursors: []list.Cursor{{Parameter: "after", Pointer: "/next"}}}}})
	if err != nil {
		f.Fatal(err)
	}
	m, _, _ := table.Match(http.MethodGet, "/things")
	s := cursor.NewSealer(keys, []byte(`[""]`))
	made, bound := make(map[string]bool), []byte(nil)
	catch := catcher{s, func(sealed string, b []byte) { made[sealed], bound = true, b }}
	for _, value := range []string{"x", "P|5", "a&page=2"} {
		up, _ := m.Request(mapping.Asked{Sealer: catch})
		if err := up.List.Continue([]splice.Scalar{{Kind: splice.String, Text: value}}, catch, []byte("elsewhere")); err != nil {
			f.Fatal(err)
		}
	}
	if string(bound) != "elsewhere" {
		f.Fatal(bound)
	}
	for sealed := range made {
		f.Add(sealed)
	}
	f.Add("")
	f.Add(keys.Seal("rest cursor", []byte(`{"p":2,"v":{"page":"1"}}`), nil))
	f.Add(keys.Seal("other", []byte(`{"p":2,"v":{"after":"1"}}`), []byte("[]")))
	f.Fuzz(func(t *testing.T, text string) {
		query := url.Values{"cursor": {text}}
		up, refused := m.Request(mapping.Asked{Sealer: s, RawQuery: query.Encode()})
		if refused == nil {
			t.Fatalf("%q sends %s", text, up.RawQuery)
		}
		if refused.Status != http.StatusBadRequest || refused.Field != "cursor" {
			t.Fatalf("%q: %v", text, refused)
		}
	})
}

// catcher is a sealer that tells what it has made.
type catcher struct {
	*cursor.Sealer
	made func(sealed string, bound []byte)
}

// Seal implements list.Sealer.
func (c catcher) Seal(plain, bound []byte) string {
	sealed := c.Sealer.Seal(plain, bound)
	c.made(sealed, bound)
	return sealed
}
