package apierrors

import (
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Dialect points to the settings that say how an upstream reports errors.
type Dialect struct {
	Expose, UpstreamAuth *bool
	From                 *[]envelope.From
	FailWhen             *[]envelope.FailWhen
	Charset              *string
}

// dialectWords are the words that [Dialect.ReadWord] knows.
var dialectWords = []string{"expose", "upstream_auth", "from", "fail_when", "charset"}

// ReadWord reads the current word of a block. place is what errors call the block, and more
// are the words that it has besides.
func (s Dialect) ReadWord(d *caddyfile.Dispenser, place string, more ...string) (err error) {
	switch d.Val() {
	case "expose":
		err = parse.Flag(d, s.Expose)
	case "upstream_auth":
		err = readUpstreamAuth(d, s.UpstreamAuth)
	case "from":
		*s.From, err = readFrom(d, *s.From)
	case "fail_when":
		*s.FailWhen, err = readFailWhen(d, *s.FailWhen)
	case "charset":
		err = ReadCharset(d, s.Charset)
	default:
		err = parse.UnknownWord(d, place, slices.Concat(more, dialectWords)...)
	}
	return err
}

// readUpstreamAuth reads the one status there is.
func readUpstreamAuth(d *caddyfile.Dispenser, set *bool) error {
	if err := parse.Once(d, *set); err != nil {
		return err
	}
	status, err := parse.Argument(d, "502")
	if err == nil && status != "502" {
		err = d.Errf("upstream_auth: unexpected '%s', expected 502", status)
	}
	*set = true
	return err
}

// readFrom reads where an upstream's errors have their texts, and adds it to those before.
// A - is a place that the upstream does not have.
func readFrom(d *caddyfile.Dispenser, rules []envelope.From) ([]envelope.From, error) {
	args, err := parse.Arguments(d, "json or html")
	if err != nil {
		return nil, err
	}
	if len(args) > 4 {
		return nil, d.Errf("from: unexpected argument '%s', expected only the places of code, message and field", args[4])
	}
	rule := envelope.From{Kind: envelope.Kind(args[0])}
	for i, place := range []*string{&rule.Code, &rule.Message, &rule.Field} {
		if i+1 < len(args) && args[i+1] != "-" {
			*place = args[i+1]
		}
	}
	if err := rule.Check(); err != nil {
		return nil, d.WrapErr(err)
	}
	if slices.Contains(rules, rule) {
		return nil, d.Errf("from %s is given twice with the same places", rule.Kind)
	}
	return append(rules, rule), nil
}

// ReadCharset reads the name of a charset.
func ReadCharset(d *caddyfile.Dispenser, into *string) error {
	if err := parse.Text(d, into, "a name such as iso-8859-1 or shift_jis"); err != nil {
		return err
	}
	if _, err := charset.Find(*into); err != nil {
		return d.WrapErr(err)
	}
	return nil
}
