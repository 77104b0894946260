package gateway

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/store"
)

// A client is written down in three places: the configuration, which explains each word,
// the admin API, and the record in the store. What is said in one can be said in all.
func TestAClientHasTheSameWordsWhereverItIsKept(t *testing.T) {
	fields := func(v any, but ...string) []string {
		names := make(map[string]string)
		for f := range reflect.TypeOf(v).Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !slices.Contains(but, name) {
				names[name] = f.Type.String()
			}
		}
		var all []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, name+" "+names[name])
		}
		return all
	}
	told := []string{"created", "secrets", "self_registered", "unused_until"}
	config := fields(Client{}, "secrets", "secret_hashes")
	api := fields(clientstore.Definition{}, told...)
	if !slices.Equal(config, api) {
		t.Errorf("the configuration has\n%v\nand the admin API\n%v", config, api)
	}
	record := fields(store.Client{}, append(told, "access_hash", "deprecated_until", "registered_audience", "scope_limit")...)
	api = fields(clientstore.Definition{}, append(told, "deprecated_grants")...)
	if !slices.Equal(api, record) {
		t.Errorf("the admin API has\n%v\nand the store\n%v", api, record)
	}
}
