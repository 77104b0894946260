package http

import (
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/plugins/internal/remote"
	"github.com/gatehouse/gatehouse/plugins/internal/words"
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
//		refused_id   <pointer>
//		header       <name> <value>
//		ca           <file>
//		tls {
//			trust_pool <module> ...
//		}
//		timeout      <duration>
//		max_body     <size>
//	}
func (s *Source) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the module name
	if !d.AllArgs(&s.URL) {
		return d.Err("expected `http <url>`, the address of the login endpoint")
	}
	return words.Block(d, "the HTTP directory", map[string]words.Reader{
		"as":             words.Text(&s.As),
		"username_field": words.Text(&s.UsernameField),
		"password_field": words.Text(&s.PasswordField),
		"lookup":         words.Text(&s.Lookup),
		"fields":         words.User(&s.Fields, &s.Claims, knownFields, "pointer"),
		"ok":             readStatuses(&s.OK),
		"refused":        readStatuses(&s.Refused),
		"ok_when":        readCondition(&s.OKWhen),
		"refused_when":   readCondition(&s.RefusedWhen),
		"refused_id":     words.Text(&s.RefusedID),
		"header":         s.readHeader,
		"ca":             words.Text(&s.CA),
		"tls":            remote.ReadTLS(&s.TLS),
		"timeout":        words.Duration(&s.Timeout),
		"max_body":       s.maxBody,
	}, "header", "ok", "refused")
}

func (s *Source) readHeader(d *caddyfile.Dispenser, word string) error {
	var name, value string
	if !d.AllArgs(&name, &value) {
		return d.Errf("expected `%s <name> <value>`", word)
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

func readStatuses(into *[]int) words.Reader {
	return func(d *caddyfile.Dispenser, word string) error {
		if !d.NextArg() {
			return d.Errf("%s: expected statuses, such as 200", word)
		}
		for ok := true; ok; ok = d.NextArg() {
			n, err := strconv.Atoi(d.Val())
			switch {
			case err != nil:
				return d.Errf("%s: expected statuses, got %s", word, d.Val())
			case slices.Contains(*into, n):
				return d.Errf("%s: %d is given twice", word, n)
			}
			*into = append(*into, n)
		}
		return nil
	}
}

func readCondition(into **Condition) words.Reader {
	return func(d *caddyfile.Dispenser, word string) error {
		args := d.RemainingArgs()
		if len(args) < 2 {
			return d.Errf("expected `%s <pointer> <value...>`", word)
		}
		*into = &Condition{Pointer: args[0], Values: args[1:]}
		return nil
	}
}

// maxBody reads bytes, KiB or MiB.
func (s *Source) maxBody(d *caddyfile.Dispenser, word string) error {
	var value string
	number, unit := "", 1
	if d.AllArgs(&value) {
		number = value
		if n, ok := strings.CutSuffix(value, "KiB"); ok {
			number, unit = n, 1<<10
		} else if n, ok := strings.CutSuffix(value, "MiB"); ok {
			number, unit = n, 1<<20
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 || n > mostBody/unit {
		return d.Errf("%s: expected a size of at most 1MiB, such as 64KiB, got %s", word, value)
	}
	s.MaxBody = n * unit
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Source)(nil)
