package words

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// plugin has a word of each kind.
type plugin struct {
	Text, Secret   string
	Duration       caddy.Duration
	Number         int
	Flag           bool
	Fields, Claims map[string]string
	Again          string
}

func parse(block string) (p plugin, err error) {
	d := caddyfile.NewTestDispenser("plugin {\n" + block + "\n}")
	d.Next()
	err = Block(d, "the plugin", map[string]Reader{
		"text": Text(&p.Text), "secret": Secret(&p.Secret, "SECRET"), "duration": Duration(&p.Duration), "number": Number(&p.Number),
		"flag": Flag(&p.Flag), "fields": User(&p.Fields, &p.Claims, []string{"name", "email"}, "column"), "again": Text(&p.Again),
	}, "again")
	return p, err
}

func TestBlockIsParsed(t *testing.T) {
	d := caddyfile.NewTestDispenser("plugin")
	d.Next()
	if err := Block(d, "the plugin", nil); err != nil {
		t.Errorf("no block: %v", err)
	}
	got, err := parse("text \"a b\"\nsecret {env.SECRET}\nduration 2s\nnumber 7\nflag\nfields {\nname n\nclaim role r\nclaim name m\n}\nagain 1\nagain 2")
	want := plugin{
		Text: "a b", Secret: "{env.SECRET}", Duration: caddy.Duration(2 * time.Second), Number: 7, Flag: true,
		Fields: map[string]string{"name": "n"}, Claims: map[string]string{"role": "r", "name": "m"}, Again: "2",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestConfigErrorNamesLineWithoutSecret(t *testing.T) {
	for block, want := range map[string]string{
		"color red":                           "unrecognized word 'color' in the plugin, expected one of: again, duration, fields, flag, number, secret, text",
		"text":                                "text: expected one value",
		"text a b":                            "text: expected one value",
		`text ""`:                             "text: expected one value",
		"text a\ntext b":                      "text is given twice",
		"secret hush":                         "secret: expected a placeholder such as {env.SECRET}",
		"secret hush{":                        "secret: expected a placeholder such as {env.SECRET}",
		"secret hush}":                        "secret: expected a placeholder such as {env.SECRET}",
		"duration soon":                       "duration: invalid duration 'soon'",
		"duration 0":                          "duration: invalid duration '0'",
		"duration -1s":                        "duration: invalid duration '-1s'",
		"number many":                         "number: invalid number 'many'",
		"number 0":                            "number: invalid number '0'",
		"flag on":                             "wrong argument count",
		"fields x {\nname n\n}":               "wrong argument count",
		"fields {\ncolor c\n}":                "fields: unknown field 'color', expected one of name, email, or claim",
		"fields {\nname\n}":                   "fields: name: expected one column",
		"fields {\nname a b\n}":               "fields: name: expected one column",
		"fields {\nname a\nname b\n}":         "fields: name is given twice",
		"fields {\nclaim\n}":                  "expected `claim <name> <column>`",
		"fields {\nclaim a a\nclaim a b\n}":   "fields: a is given twice",
		"fields {\nname a\n}\nfields {\n}":    "fields is given twice",
		"again 1\ntext hush hush\nsecret lit": "text: expected one value",
	} {
		_, err := parse(block)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Testfile:") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %q with file and line", block, err, want)
		}
	}
}
