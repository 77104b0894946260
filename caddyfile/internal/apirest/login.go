package apirest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/login"
)

// readLogin reads how the gateway signs in to the API.
//
//	login {
//		GET|POST <path and query> [as form|json] [<name>=<value>...]
//		keep cookie [<name> [as header|query|form <name>]]
//		keep json <pointer> as header|query|form <name> [<scheme>] [next]
//		keep header <name> as header|query|form <name> [<scheme>] [next]
//		expect <pointer> <operator> [<values...>]
//		expect status <statuses...>
//		again when <pointer> <operator> [<values...>]
//		again when status <statuses...>
//	}
func readLogin(d *caddyfile.Dispenser) (*login.Config, error) {
	head := d.Token()
	if d.NextArg() {
		return nil, d.Errf("login: unexpected argument '%s', expected a block", d.Val())
	}
	c := new(login.Config)
	words := loginWords(c)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		line := d.Token()
		if err := words.Read(d, "login"); err != nil {
			return nil, err
		}
		if n := len(c.Steps); n > 0 {
			s := c.Steps[n-1]
			if err := s.Check(); err != nil {
				return nil, parse.ErrorAt(line, fmt.Errorf("login: %s %s: %w", s.Method, s.Upstream, err))
			}
		}
	}
	if err := c.Check(); err != nil {
		return nil, parse.ErrorAt(head, err)
	}
	return c, nil
}

func loginWords(c *login.Config) parse.Words {
	step := parse.Append(&c.Steps, readLoginStep)
	// ofLastStep has a word read for the step in front of it.
	ofLastStep := func(read func(*caddyfile.Dispenser, *login.Step) error) parse.Word {
		return func(d *caddyfile.Dispenser) error {
			if len(c.Steps) == 0 {
				return d.Errf("%s: expected a step in front of it, such as `POST /login user=gateway password={file./run/password}`", d.Val())
			}
			return read(d, &c.Steps[len(c.Steps)-1])
		}
	}
	return parse.Words{
		"GET": step, "POST": step,
		"keep":   ofLastStep(readKeep),
		"expect": ofLastStep(readExpect),
		"again":  parse.Append(&c.Again, readAgain),
	}
}

func readExpect(d *caddyfile.Dispenser, s *login.Step) error {
	words, err := parse.LiteralArguments("a condition such as /login/result == Success, or status and statuses")(d)
	if err != nil {
		return err
	}
	if words[0] == "status" {
		statuses, err := toStatuses(d, "expect status", words[1:])
		s.Status = append(s.Status, statuses...)
		return err
	}
	if _, err := strconv.Atoi(words[0]); err == nil {
		return d.Errf("expect: unexpected '%s', expected a condition such as /login/result == Success, or status and statuses such as `expect status 409`", words[0])
	}
	e, err := toCondition(d, "expect", words)
	s.Expect = append(s.Expect, e)
	return err
}

func readLoginStep(d *caddyfile.Dispenser) (s login.Step, err error) {
	s.Method = d.Val()
	if err := refuseQuotedValues(d, s.Method); err != nil {
		return s, err
	}
	words, err := parse.LiteralArguments("the path and query of the API, such as /api.php?action=login")(d)
	if err != nil {
		return s, err
	}
	s.Upstream, words = words[0], words[1:]
	if len(words) > 0 && words[0] == "as" {
		if len(words) == 1 {
			return s, d.Errf("%s %s: as: expected form or json", s.Method, s.Upstream)
		}
		s.As, words = words[1], words[2:]
	}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return s, d.Errf("%s %s: unexpected '%s', expected parameters such as password={file./run/password}", s.Method, s.Upstream, w)
		}
		s.Send = append(s.Send, login.Value{Name: name, Value: value})
	}
	return s, nil
}

func readKeep(d *caddyfile.Dispenser, s *login.Step) error {
	const form = "cookie, json or header, what of it, and what it goes as, such as `keep json /token as header Authorization Bearer`"
	words, err := parse.LiteralArguments(form)(d)
	if err != nil {
		return err
	}
	k := login.Keep{From: words[0]}
	words = words[1:]
	if len(words) > 0 && words[0] != "as" {
		k.Name, words = words[0], words[1:]
	}
	if n := len(words); n > 0 && words[n-1] == "next" {
		k.Next, words = true, words[:n-1]
	}
	if len(words) > 0 {
		if words[0] != "as" || len(words) < 3 || len(words) > 4 {
			return d.Errf("keep: unexpected '%s', expected %s", strings.Join(words, " "), form)
		}
		if k.In = placeOf(words[1]); k.In == "" {
			return d.Errf("keep: as %s: expected header, query or form", words[1])
		}
		k.As = words[2]
		if len(words) == 4 {
			k.Scheme = words[3]
		}
	}
	s.Keep = append(s.Keep, k)
	return nil
}

func readAgain(d *caddyfile.Dispenser) (a login.Again, err error) {
	line := d.Token()
	words, err := parse.LiteralArguments("when and a condition")(d)
	if err != nil {
		return a, err
	}
	if words[0] != "when" || len(words) < 3 {
		return a, d.Errf("again: expected when and a condition, such as `again when /error/code == badtoken` or `again when status 401`")
	}
	if words[1] == "status" {
		a.Status, err = toStatuses(d, "again when status", words[2:])
	} else {
		a.Condition, err = toCondition(d, "again when", words[1:])
	}
	if err != nil {
		return a, err
	}
	if err := a.Check(); err != nil {
		return a, parse.ErrorAt(line, err)
	}
	return a, nil
}

func toStatuses(d *caddyfile.Dispenser, word string, words []string) (statuses []int, err error) {
	if len(words) == 0 {
		return nil, d.Errf("%s: expected statuses such as 401", word)
	}
	for _, w := range words {
		status, err := strconv.Atoi(w)
		if err != nil {
			return nil, d.Errf("%s: unexpected '%s', expected statuses such as 401", word, w)
		}
		statuses = append(statuses, status)
	}
	return statuses, nil
}
