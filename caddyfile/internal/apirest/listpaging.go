package apirest

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// readCursor reads a parameter that leads to the next page, and where its value is in answers.
func readCursor(d *caddyfile.Dispenser, l *list.Config) error {
	const form = "the API's parameter and a JSON Pointer to its next value, such as `cursor after /meta/next`"
	words, err := parse.LiteralArguments(d, form)
	if err != nil {
		return err
	}
	if len(words) != 2 {
		return d.Errf("cursor: expected %s", form)
	}
	l.Cursors = append(l.Cursors, list.Cursor{Parameter: words[0], Pointer: words[1]})
	return nil
}

// readEmptyWhen reads a condition under which an error is an empty page.
func readEmptyWhen(d *caddyfile.Dispenser, l *list.Config) error {
	words, err := parse.Arguments(d, conditionForm)
	if err != nil {
		return err
	}
	when, err := toCondition(d, "empty_when", words)
	l.EmptyWhen = append(l.EmptyWhen, when)
	return err
}

// readComplete reads the condition under which a list of one page is complete.
func readComplete(d *caddyfile.Dispenser, l *list.Config) error {
	if err := parse.Once(d, l.Complete != nil); err != nil {
		return err
	}
	words := d.RemainingArgs()
	if len(words) < 2 || words[0] != "when" {
		return d.Err("complete: expected when, a JSON Pointer, an operator and values, such as `complete when /continue missing`")
	}
	when, err := toCondition(d, "complete when", words[1:])
	l.Complete = &when
	return err
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
