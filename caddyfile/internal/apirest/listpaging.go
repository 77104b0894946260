package apirest

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// readCursor reads a parameter that leads to the next page, and where its value is in answers.
func readCursor(d *caddyfile.Dispenser) (c list.Cursor, err error) {
	const form = "the API's parameter and a JSON Pointer to its next value, such as `cursor after /meta/next`"
	words, err := parse.LiteralArguments(form)(d)
	if err != nil {
		return c, err
	}
	if len(words) != 2 {
		return c, d.Errf("cursor: expected %s", form)
	}
	return list.Cursor{Parameter: words[0], Pointer: words[1]}, nil
}

// readEmptyWhen reads a condition under which an error is an empty page.
func readEmptyWhen(d *caddyfile.Dispenser) (c envelope.Condition, err error) {
	words, err := parse.Arguments(conditionForm)(d)
	if err != nil {
		return c, err
	}
	return toCondition(d, "empty_when", words)
}

// readComplete reads the condition under which a list of one page is complete.
func readComplete(d *caddyfile.Dispenser) (*envelope.Condition, error) {
	words := d.RemainingArgs()
	if len(words) < 2 || words[0] != "when" {
		return nil, d.Err("complete: expected when, a JSON Pointer, an operator and values, such as `complete when /continue missing`")
	}
	when, err := toCondition(d, "complete when", words[1:])
	return &when, err
}

const conditionForm = "a JSON Pointer, an operator and values, such as /code == no_more_pages"

// toCondition makes a condition of the words of a comparison.
func toCondition(d *caddyfile.Dispenser, word string, words []string) (c envelope.Condition, err error) {
	if len(words) < 2 {
		return c, d.Errf("%s: expected %s", word, conditionForm)
	}
	c = envelope.Condition{Pointer: words[0], Op: words[1]}
	if len(words) > 2 {
		c.Values = words[2:]
	}
	if err := c.Check(); err != nil {
		return c, d.Errf("%s: %v", word, err)
	}
	return c, nil
}
