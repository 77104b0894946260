package compose_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/compose"
)

// secret has what would end a text in JSON.
const secret = `s"3,{c}\`

func fillSecret(text string) (string, error) {
	if strings.Contains(text, "{env.NONE}") {
		return "", errors.New("{env.NONE}: unknown")
	}
	return strings.ReplaceAll(text, "{env.PW}", secret), nil
}

func TestLiteralsKeepPlaceholdersInTheirTexts(t *testing.T) { // R12
	const quoted = `s\"3,{c}\\`
	for value, want := range map[string]string{
		"text": `"text"`, "{env.PW}": `"` + quoted + `"`, "a {env.PW}!": `"a ` + quoted + `!"`, "": `""`,
		"1": "1", "-1.5e3": "-1.5e3", "01": `"01"`, "true": "true", "null": "null", `"1"`: `"1"`, `"2.0"`: `"2.0"`,
		`["{env.PW}"]`: `["` + quoted + `"]`, `{"a":{"b":"x{env.PW}"},"c":[1,"{env.PW}"]}`: `{"a":{"b":"x` + quoted + `"},"c":[1,"` + quoted + `"]}`,
		"{}": "{}", "[]": "[]", `"\u007benv.PW}"`: `"\u007benv.PW}"`,
	} {
		if got, err := compose.Literal(value, fillSecret); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", value, got, err, want)
		}
	}
	for value, want := range map[string]string{
		"[{env.PW}]": "invalid JSON", "[1": "invalid JSON", `"x`: "invalid JSON", `{"a":1`: "invalid JSON", `{"a":{env.PW}}`: "invalid JSON", "[1],2": "invalid JSON",
		"a\nb": "control characters", strings.Repeat("x", 8<<10+1): "8193 bytes", `["{env.NONE}"]`: "unknown", "{env.NONE}": "unknown",
	} {
		if got, err := compose.Literal(value, fillSecret); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%.40s: %s %v, want %s", value, got, err, want)
		}
	}
}

func TestObjectsNestMembers(t *testing.T) { // R12
	got, err := compose.Object([]compose.Member{{"jsonrpc", `"2.0"`}, {"/params/user", `"a"`}, {"/params/password", `"b"`}, {"ids[]", "1"}})
	if want := `{"jsonrpc":"2.0","params":{"user":"a","password":"b"},"ids":[1]}`; err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	for _, members := range [][]compose.Member{{{"a", "1"}, {"a", "2"}}, {{"a", "1"}, {"/a/b", "2"}}, {{"us[er]", "1"}}, make([]compose.Member, 101)} {
		if got, err := compose.Object(members); err == nil {
			t.Errorf("%v: %s", members, got)
		}
	}
}
