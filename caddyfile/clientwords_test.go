package caddyfile

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestEveryClientSettingHasADirective(t *testing.T) {
	known := new(clientBlock).words()
	for f := range reflect.TypeFor[oauth.Client]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "id" || name == "introspect_by_status" { // client <id>, introspect by_status
			continue
		}
		words := wordsOf[name]
		if words == nil {
			words = []string{name}
		}
		for _, word := range words {
			if known[word] == nil {
				t.Errorf("%s: the word %s is unknown", name, word)
			}
		}
	}
}
