package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/oauth"
)

func TestEverySettingOfAClientHasAFlag(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var d clientstore.Definition
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	convert := definitionFlags(flags, &d)
	flags.VisitAll(func(f *pflag.Flag) {
		value := map[string]string{"bool": "true", "stringToString": "password=2027-06-30"}[f.Value.Type()]
		if f.Name == "jwks" {
			value = file
		}
		if value == "" {
			value = f.Name
		}
		if err := f.Value.Set(value); err != nil {
			t.Error(err)
		}
	})
	if err := convert(); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var sent map[string]any
	if err := json.Unmarshal(raw, &sent); err != nil {
		t.Fatal(err)
	}
	for f := range reflect.TypeFor[oauth.Client]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" && name != "id" && sent[name] == nil {
			t.Errorf("no flag sets %s", name)
		}
	}
	if sent["deprecated_grants"] == nil || d.Name != "name" || d.Grants[0] != "grant" || d.JWKS != "{}" {
		t.Errorf("%s", raw)
	}
}
