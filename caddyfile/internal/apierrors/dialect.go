package apierrors

import (
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Dialect returns the words that say how an upstream reports errors, and set these settings.
func Dialect(expose, upstreamAuth *bool, from *[]envelope.From, failWhen *[]envelope.FailWhen, charset *string) parse.Words {
	return parse.Words{
		"expose":        parse.Flag(expose),
		"upstream_auth": parse.Once(upstreamAuth, readUpstreamAuth),
		"from":          func(d *caddyfile.Dispenser) error { return readFrom(d, from) },
		"fail_when":     parse.Append(failWhen, readFailWhen),
		"charset":       parse.Once(charset, ReadCharset),
	}
}

// readUpstreamAuth reads the one status there is.
func readUpstreamAuth(d *caddyfile.Dispenser) (bool, error) {
	status, err := parse.Argument("502")(d)
	if err == nil && status != "502" {
		err = d.Errf("upstream_auth: unexpected '%s', expected 502", status)
	}
	return true, err
}

// readFrom reads where an upstream's errors have their texts, and adds it to those before.
// A - is a place that the upstream does not have.
func readFrom(d *caddyfile.Dispenser, rules *[]envelope.From) error {
	args, err := parse.Arguments("json or html")(d)
	if err != nil {
		return err
	}
	if len(args) > 4 {
		return d.Errf("from: unexpected argument '%s', expected only the places of code, message and field", args[4])
	}
	rule := envelope.From{Kind: envelope.Kind(args[0])}
	for i, place := range []*string{&rule.Code, &rule.Message, &rule.Field} {
		if i+1 < len(args) && args[i+1] != "-" {
			*place = args[i+1]
		}
	}
	if err := rule.Check(); err != nil {
		return d.WrapErr(err)
	}
	if slices.Contains(*rules, rule) {
		return d.Errf("from %s is given twice with the same places", rule.Kind)
	}
	*rules = append(*rules, rule)
	return nil
}

// ReadCharset reads the name of a charset.
func ReadCharset(d *caddyfile.Dispenser) (string, error) {
	name, err := parse.Text("a name such as iso-8859-1 or shift_jis")(d)
	if err != nil {
		return "", err
	}
	if _, err := charset.Find(name); err != nil {
		return "", d.WrapErr(err)
	}
	return name, nil
}
