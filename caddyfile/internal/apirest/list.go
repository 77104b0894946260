package apirest

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/apierrors"
	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// readList reads how a collection is listed.
//
//	list {
//		default <n>
//		max <n>
//		send page|limit|state <name>
//		send page offset <name>
//		send sort <name> [<format>] [direction <name>] [ascending <word>] [descending <word>]
//		sort <field>[=<upstream's>]...
//		state <state>[=<upstream's>]...
//		filter <parameter>[=<upstream's>] [required] [<value>[=<upstream's>]...]
//		items <pointer>
//		total <pointer>
//		total header <name>
//		cursor <parameter> <pointer>
//		empty_when <pointer> <operator> <values...>
//		paginate local
//		complete when <pointer> <operator> <values...>
//	}
func readList(d *caddyfile.Dispenser, l *list.Config) error {
	if d.NextArg() {
		return d.Errf("list: unexpected argument '%s', expected a block or nothing", d.Val())
	}
	var words parse.Words
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if words == nil {
			words = listWords(l)
		}
		line := d.Token()
		if err := words.Read(d, "list"); err != nil {
			return err
		}
		// The numbers are checked at the end: default may stand in front of its max.
		alone := *l
		alone.Default, alone.Max = 0, 0
		if err := alone.Check(); err != nil {
			return parse.ErrorAt(line, err)
		}
	}
	return nil
}

func listWords(l *list.Config) parse.Words {
	return parse.Words{
		"default":    parse.Once(&l.Default, parse.Number),
		"max":        parse.Once(&l.Max, parse.Number),
		"send":       func(d *caddyfile.Dispenser) error { return readSend(d, &l.Send) },
		"sort":       readNames(&l.Sort, "fields such as created_at, or created_at=ctime where the upstream has another name"),
		"state":      readNames(&l.States, "states such as published, or published=1 where the upstream has another word"),
		"filter":     func(d *caddyfile.Dispenser) error { return readFilter(d, l) },
		"items":      parse.Once(&l.Items, parse.Text("a JSON Pointer such as /result/list")),
		"total":      func(d *caddyfile.Dispenser) error { return readTotal(d, l) },
		"cursor":     parse.Append(&l.Cursors, readCursor),
		"empty_when": parse.Append(&l.EmptyWhen, readEmptyWhen),
		"complete":   parse.Once(&l.Complete, readComplete),
		"paginate":   parse.Once(&l.Paginate, parse.Choice("local")),
	}
}

func readTotal(d *caddyfile.Dispenser, l *list.Config) error {
	const form = "a JSON Pointer such as /result/total, or header and a name"
	if err := parse.CheckOnce(d, l.Total != "" || l.TotalHeader != ""); err != nil {
		return err
	}
	words, err := parse.LiteralArguments(form)(d)
	switch {
	case err != nil:
		return err
	case len(words) == 2 && words[0] == "header":
		l.TotalHeader = words[1]
	case len(words) == 1:
		l.Total = words[0]
	default:
		return d.Errf("total: expected %s", form)
	}
	return nil
}

// readSend reads the upstream's name of a parameter.
func readSend(d *caddyfile.Dispenser, s *list.Send) error {
	const form = "page, limit, sort or state and the upstream's parameter, such as `send limit count` or `send page offset start`"
	words, err := parse.LiteralArguments(form)(d)
	if err != nil {
		return err
	}
	what := words[0]
	var into *string
	switch {
	case what == "page" && len(words) == 3 && words[1] == "offset":
		into = &s.Offset
	case what == "page" && len(words) == 2:
		into = &s.Page
	case what == "limit" && len(words) == 2:
		into = &s.Limit
	case what == "state" && len(words) == 2:
		into = &s.State
	case what == "sort" && len(words) > 1:
		return toSendSort(d, s, words[1:])
	default:
		return d.Errf("send: unexpected '%s', expected %s", strings.Join(words, " "), form)
	}
	if *into != "" || what == "page" && s.Page+s.Offset != "" {
		return d.Errf("send %s is given twice", what)
	}
	*into = words[len(words)-1]
	return nil
}

func toSendSort(d *caddyfile.Dispenser, s *list.Send, words []string) error {
	if s.Sort != "" {
		return d.Err("send sort is given twice")
	}
	s.Sort, words = words[0], words[1:]
	if len(words) > 0 && strings.Contains(words[0], "{") {
		s.SortFormat, words = words[0], words[1:]
	}
	const form = "a format such as \"{field} {dir}\", direction and a parameter, ascending or descending and the upstream's word"
	for ; len(words) > 0; words = words[2:] {
		into, known := map[string]*string{"direction": &s.Direction, "ascending": &s.Ascending, "descending": &s.Descending}[words[0]]
		switch {
		case !known || len(words) == 1:
			return d.Errf("send sort: unexpected '%s', expected %s", words[0], form)
		case *into != "":
			return d.Errf("send sort: %s is given twice", words[0])
		}
		*into = words[1]
	}
	return nil
}

// readFilter reads a parameter, and perhaps the values it may have.
func readFilter(d *caddyfile.Dispenser, l *list.Config) error {
	const form = "a parameter such as author, or author=uid where the upstream has another name, and perhaps its values"
	if !d.NextArg() {
		return d.Errf("filter: expected %s", form)
	}
	name, err := cutPair(d, "filter", parse.UndoShorthands(d.Val()), form, true)
	if err != nil {
		return err
	}
	f := list.Filter{Name: name}
	if slices.ContainsFunc(l.Filters, func(other list.Filter) bool { return other.Name.Name == f.Name.Name }) {
		return d.Errf("filter %s is given twice", f.Name.Name)
	}
	for d.NextArg() {
		if word := d.Val(); word == "optional" || word == "required" && (f.Required || len(f.Values) > 0) {
			return d.Errf("filter %s: unexpected '%s', expected required once and in front of the values, or nothing, since filters are optional", f.Name.Name, word)
		} else if word == "required" {
			f.Required = true
			continue
		}
		value, err := cutPair(d, "filter "+f.Name.Name, parse.UndoShorthands(d.Val()), "values such as news, or news=1 where the upstream has another word", true)
		if err != nil {
			return err
		}
		f.Values = append(f.Values, value)
	}
	l.Filters = append(l.Filters, f)
	return nil
}

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
	words = slices.Concat(words[:1], apierrors.CutOperator(words[1:]))
	c = envelope.Condition{Pointer: words[0], Op: words[1]}
	if len(words) > 2 {
		c.Values = words[2:]
	}
	if err := c.Check(); err != nil {
		return c, d.Errf("%s: %v", word, err)
	}
	return c, nil
}
