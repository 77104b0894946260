package http

import (
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// UnmarshalCaddyfile sets up the directory from Caddyfile tokens:
//
//	users http <url> {
//		as             form|json
//		username_field <name>
//		password_field <name>
//		lookup         <url with {id}>
//		fields {
//			id|username|name|nickname|email|phone|picture|locked <pointer>
//			claim <name> <pointer>
//		}
//		ok           <status...>
//		refused      <status...>
//		ok_when      <pointer> <value...>
//		refused_when <pointer> <value...>
//		header       <name> <value>
//		ca           <file>
//		timeout      <duration>
//		max_body     <size>
//	}
func (s *Source) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the module name
	if !d.AllArgs(&s.URL) {
		return d.Err("expected `http <url>`, the address of the login endpoint")
	}
	seen := make(map[string]bool)
	for d.NextBlock(0) {
		word := d.Val()
		if seen[word] && word != "header" {
			return d.Errf("%s is given twice", word)
		}
		seen[word] = true
		if err := s.word(d, word); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) word(d *caddyfile.Dispenser, word string) error {
	switch word {
	case "fields":
		return s.fields(d)
	case "ok":
		return statuses(d, word, &s.OK)
	case "refused":
		return statuses(d, word, &s.Refused)
	case "ok_when":
		return condition(d, word, &s.OKWhen)
	case "refused_when":
		return condition(d, word, &s.RefusedWhen)
	case "header":
		var name, value string
		if !d.AllArgs(&name, &value) {
			return d.Err("expected `header <name> <value>`")
		}
		if _, ok := s.Headers[name]; ok {
			return d.Errf("header %s is given twice", name)
		}
		if s.Headers == nil {
			s.Headers = make(map[string]string)
		}
		s.Headers[name] = value
		return nil
	}
	return s.value(d, word)
}

// value reads the words that have one.
func (s *Source) value(d *caddyfile.Dispenser, word string) error {
	texts := map[string]*string{
		"as": &s.As, "username_field": &s.UsernameField, "password_field": &s.PasswordField, "lookup": &s.Lookup, "ca": &s.CA,
	}
	if texts[word] == nil && word != "timeout" && word != "max_body" {
		return d.Errf("unrecognized word '%s' in the HTTP directory, expected one of as, username_field, password_field, lookup, fields, ok, refused, ok_when, refused_when, header, ca, timeout, max_body", word)
	}
	var value string
	if !d.AllArgs(&value) || value == "" {
		return d.Errf("%s: expected one value", word)
	}
	switch word {
	case "timeout":
		t, err := caddy.ParseDuration(value)
		if err != nil || t <= 0 {
			return d.Errf("timeout: expected a duration such as 3s, got %s", value)
		}
		s.Timeout = caddy.Duration(t)
	case "max_body":
		n, ok := size(value)
		if !ok {
			return d.Errf("max_body: expected a size of at most 1MiB, such as 64KiB, got %s", value)
		}
		s.MaxBody = n
	default:
		*texts[word] = value
	}
	return nil
}

func (s *Source) fields(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	s.Fields, s.Claims = make(map[string]string), make(map[string]string)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		field, into := d.Val(), s.Fields
		if field == "claim" {
			if !d.NextArg() {
				return d.Err("expected `claim <name> <pointer>`")
			}
			field, into = d.Val(), s.Claims
		} else if !isField(field) {
			return d.Errf("fields: unknown field '%s', expected one of %s, or claim", field, strings.Join(knownFields, ", "))
		}
		var pointer string
		if !d.AllArgs(&pointer) {
			return d.Errf("fields: %s: expected one JSON pointer, such as /user/id", field)
		}
		if into[field] != "" {
			return d.Errf("fields: %s is given twice", field)
		}
		into[field] = pointer
	}
	return nil
}

func statuses(d *caddyfile.Dispenser, word string, into *[]int) error {
	for _, arg := range d.RemainingArgs() {
		n, err := strconv.Atoi(arg)
		if err != nil {
			return d.Errf("%s: expected statuses, got %s", word, arg)
		}
		*into = append(*into, n)
	}
	if len(*into) == 0 {
		return d.Errf("%s: expected statuses, such as 200", word)
	}
	return nil
}

func condition(d *caddyfile.Dispenser, word string, into **Condition) error {
	args := d.RemainingArgs()
	if len(args) < 2 {
		return d.Errf("expected `%s <pointer> <value...>`", word)
	}
	*into = &Condition{Pointer: args[0], Values: args[1:]}
	return nil
}

// size reads bytes, KiB or MiB.
func size(value string) (int, bool) {
	unit := 1
	if number, ok := strings.CutSuffix(value, "KiB"); ok {
		value, unit = number, 1<<10
	} else if number, ok := strings.CutSuffix(value, "MiB"); ok {
		value, unit = number, 1<<20
	}
	n, err := strconv.Atoi(value)
	return n * unit, err == nil && n > 0 && n <= mostBody/unit
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Source)(nil)
