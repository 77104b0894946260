package parse

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

type settings struct {
	name, mode string
	flag       bool
	count      int
	size       int64
	span       caddy.Duration
	grace      *caddy.Duration
	list       []string
	once       string
}

// read reads the lines of a block.
func (s *settings) read(lines string) error {
	d := caddyfile.NewTestDispenser("block {\n" + lines + "\n}")
	d.Next()
	return Words{
		"name":    Once(&s.name, Text("a name")),
		"mode":    Once(&s.mode, Choice("on", "off", "auto")),
		"either":  Once(&s.mode, Either("on", "off")),
		"flag":    Flag(&s.flag),
		"count":   Once(&s.count, NumberUpTo(9)),
		"size":    Once(&s.size, Size),
		"span":    Once(&s.span, Duration),
		"grace":   Once(&s.grace, DurationOrZero),
		"add":     Append(&s.list, Argument("an item")),
		"addall":  List(&s.list, "items"),
		"section": Words{"once": Once(&s.once, Argument("a text"))}.Section(),
	}.ReadBlock(d, "block")
}

func TestDirectivesSetValues(t *testing.T) {
	var s settings
	err := s.read(strings.Join([]string{"name a", "mode off", "flag", "count 3", "size 1KiB", "span 2m", "grace 0", "add x", "addall y z", "section {", "once b", "}"}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := settings{name: "a", mode: "off", flag: true, count: 3, size: 1024, span: caddy.Duration(2 * time.Minute), grace: new(caddy.Duration), list: []string{"x", "y", "z"}, once: "b"}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("the settings are %+v, expected %+v", s, want)
	}
}

func TestDirectiveErrors(t *testing.T) {
	for input, want := range map[string]string{
		"":                             "",
		"name a":                       "",
		"name a\nname b":               "name is given twice",
		"name":                         "name: expected a name",
		`name ""`:                      "name: expected a name",
		"name a b":                     "name: unexpected argument 'b', expected only a name",
		"nmae a":                       "unrecognized word 'nmae' in block (did you mean name?), expected one of: add, addall, count, either, flag,",
		"mode auto":                    "",
		"mode no":                      "mode: unexpected 'no', expected on, off or auto",
		"either no":                    "either: unexpected 'no', expected on or off",
		"flag\nflag":                   "flag is given twice",
		"flag x":                       "flag: unexpected argument 'x', expected none",
		"count 9\ncount 1":             "count is given twice",
		"count 10":                     "expected a whole number from 1 to 9",
		"size 1MiB":                    "",
		"size big":                     "size: invalid size 'big', expected one such as 512KiB or 1MiB",
		"span 1s":                      "",
		"span 0":                       "span: invalid duration '0'",
		"span 10ms":                    "span: '10ms' is less than a second",
		"grace 0":                      "",
		"grace -1s":                    "grace: invalid duration '-1s'",
		"grace 10ms":                   "grace: '10ms' is less than a second",
		"add a\nadd b\naddall c d":     "",
		"addall":                       "addall: expected items",
		"section x":                    "section: unexpected argument 'x', expected a block",
		"section {\nonce a\n}":         "",
		"section {\nonce a\nonce b\n}": "once is given twice",
		"section {\nother\n}":          "unrecognized word 'other' in section, expected one of: once",
	} {
		err := new(settings).read(input)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, expected %q", input, err, want)
		}
	}
}
