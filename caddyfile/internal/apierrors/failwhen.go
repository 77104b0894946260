package apierrors

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// FailWhenForm is what errors say is expected behind fail_when.
const FailWhenForm = "a JSON Pointer, an operator, values, and then status and a number"

func readFailWhen(d *caddyfile.Dispenser) (rule envelope.FailWhen, err error) {
	words, err := parse.Arguments(FailWhenForm)(d)
	if err != nil {
		return rule, err
	}
	return FailWhen(d, words)
}

// CutOperator separates the operator < from the value behind it in the words that begin with an
// operator. `caddy fmt` joins them, since a heredoc begins with the same sign.
func CutOperator(words []string) []string {
	if len(words) == 0 {
		return words
	}
	if value, ok := strings.CutPrefix(words[0], "<"); ok && value != "" && value[0] != '=' {
		return slices.Concat([]string{"<", value}, words[1:])
	}
	return words
}

// FailWhen parses the words behind fail_when.
//
//	fail_when <pointer> <operator> <values...> status <status> [<code>]
//	fail_when header <name> <operator> <values...> status <status> [<code>]
//	fail_when not_json [status <status> [<code>]]
func FailWhen(d *caddyfile.Dispenser, words []string) (rule envelope.FailWhen, err error) {
	form := FailWhenForm
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
	if !rule.NotJSON {
		words = CutOperator(words)
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
