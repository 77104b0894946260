package caddyfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// Adapting takes a time that grows as the configuration does: compare ns/op of the sizes.
func BenchmarkAdapt(b *testing.B) {
	for _, kind := range []struct{ name, frame, entry string }{
		{"clients", "{\ngatehouse {\nissuer http://127.0.0.1:9000\nscope read Read\n%s}\n}\n:9000 {\noauth_server\n}\n",
			"client c%d {\nsecret 0123456789-0123456789-0123456789-%[1]d\nredirect_uri https://c%[1]d.example/cb\nscopes read\n}\n"},
		{"rules", "{\ngatehouse {\nissuer http://127.0.0.1:9000\nscope read Read\n}\n}\n:9001 {\noauth_guard {\n%s}\nrespond ok\n}\n",
			"scope read GET /r%d/*\n"},
		{"resources", ":9001 {\napi_rest {\nto 127.0.0.1:1\n%s}\n}\n",
			"resource r%d {\nlist {\n}\nupstream GET /r%[1]d /legacy/r%[1]d\nitem read /legacy/r%[1]d/{id}\n}\n"},
	} {
		for _, n := range []int{1000, 10_000} {
			var entries strings.Builder
			for i := range n {
				fmt.Fprintf(&entries, kind.entry, i)
			}
			text := fmt.Appendf(nil, kind.frame, entries.String())
			b.Run(fmt.Sprint(kind.name, "/", n), func(b *testing.B) {
				for b.Loop() {
					if _, _, err := caddyconfig.GetAdapter("caddyfile").Adapt(text, map[string]any{"filename": "Caddyfile"}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
