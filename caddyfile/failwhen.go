package caddyfile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// failWhen reads a condition, and adds it to those before.
func failWhen(d *caddyfile.Dispenser, rules []envelope.FailWhen) ([]envelope.FailWhen, error) {
	words, err := some(d, failWhenForm)
	if err != nil {
		return nil, err
	}
	rule, err := readFailWhen(d, words)
	return append(rules, rule), err
}

const failWhenForm = "a JSON Pointer, an operator, values, and then status and a number"

// readFailWhen reads the words behind fail_when.
//
//	fail_when <pointer> <operator> <values...> status <status> [<code>]
//	fail_when header <name> <operator> <values...> status <status> [<code>]
//	fail_when not_json [status <status> [<code>]]
func readFailWhen(d *caddyfile.Dispenser, words []string) (rule envelope.FailWhen, err error) {
	form := failWhenForm
	switch words[0] {
	case "not_json":
		rule.NotJSON, words = true, words[1:]
		if len(words) == 0 {
			return rule, nil
		}
		form = "status and a number behind not_json, or nothing"
	case "header":
		if form = "a header field, an operator, values, and then status and a number"; len(words) < 2 {
			return rule, d.Errf("fail_when header: expected %s", form)
		}
		rule.Header, words = words[1], words[2:]
	default:
		rule.Pointer, words = words[0], words[1:]
	}
	end := len(words) - 2 // status stands before a number, or before a number and a code
	if end >= 1 && words[end] != "status" || rule.NotJSON && end > 0 {
		end--
	}
	least := 1 // the operator
	if rule.NotJSON {
		least = 0
	}
	if end < least || words[end] != "status" || rule.NotJSON && end != 0 {
		return rule, d.Errf("fail_when: expected %s", form)
	}
	if !rule.NotJSON {
		rule.Op, rule.Values = words[0], slices.Clone(words[1:end])
	}
	if rule.Status, err = strconv.Atoi(words[end+1]); err != nil || rule.Status == 0 {
		return rule, d.Errf("fail_when: invalid status '%s', expected one from 400 to 599", words[end+1])
	}
	if end+2 < len(words) {
		rule.Code = words[end+2]
	}
	if len(rule.Values) == 0 {
		rule.Values = nil
	}
	if err := rule.Check(); err != nil {
		return rule, d.WrapErr(err)
	}
	return rule, nil
}

// resourceFailWhen reads a condition on the answers to all operations of a resource, or to
// those of one kind.
//
//	fail_when [list|read|create|replace|update|delete|action] ...
func resourceFailWhen(d *caddyfile.Dispenser, r *resource.Resource) error {
	words, err := args(d, failWhenForm)
	if err != nil {
		return err
	}
	rule := resource.FailWhen{}
	if kind := resource.Kind(words[0]); slices.Contains(resource.AnsweredKinds, kind) {
		if rule.On, words = kind, words[1:]; len(words) == 0 {
			return d.Errf("fail_when %s: expected %s", kind, failWhenForm)
		}
	} else if !strings.HasPrefix(words[0], "/") && words[0] != "" && words[0] != "header" && words[0] != "not_json" {
		return d.Errf("fail_when: unexpected '%s', expected a JSON Pointer, header, not_json or one of: list, read, create, replace, update, delete, action", words[0])
	}
	if rule.FailWhen, err = readFailWhen(d, words); err != nil {
		return err
	}
	r.FailWhen = append(r.FailWhen, rule)
	return nil
}
