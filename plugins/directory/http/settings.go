package http

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"golang.org/x/net/http/httpguts"

	"github.com/gatehouse/gatehouse/plugins/internal/remote"
)

const (
	usualBody = 64 << 10
	mostBody  = 1 << 20
	// idPlaceholder stands in the look-up address for the ID.
	idPlaceholder = "{id}"
)

var knownFields = []string{"id", "username", "name", "nickname", "email", "phone", "picture", "locked"}

// settings are a checked configuration. They are immutable.
type settings struct {
	identity           remote.Identity // of everything below
	url                string
	json               bool
	username, password string   // names of the fields
	lookup             []string // the address, cut where the ID goes; nil: none
	fields, claims     map[string]pointer
	ok, refused        []int
	okWhen, badWhen    *when
	refusedID          pointer // nil: refusals tell no ID
	headers            http.Header
	host               string // of the header Host, "" for that of the address
	tls                *tls.Config
	timeout            time.Duration
	maxBody            int
}

type when struct {
	at     pointer
	values []string
}

func (s *Source) resolveSettings(repl *caddy.Replacer) (*settings, error) {
	out := &settings{
		username: cmp.Or(s.UsernameField, "username"), password: cmp.Or(s.PasswordField, "password"),
		json: s.As == "json", ok: s.OK, refused: s.Refused,
		maxBody: cmp.Or(s.MaxBody, usualBody), tls: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if len(out.ok) == 0 {
		out.ok = []int{http.StatusOK}
	}
	if len(out.refused) == 0 {
		out.refused = []int{http.StatusUnauthorized, http.StatusForbidden}
	}
	switch {
	case s.As != "" && s.As != "form" && s.As != "json":
		return nil, fmt.Errorf("as: expected form or json, got %s", s.As)
	case out.username == out.password:
		return nil, errors.New("username_field and password_field are the same")
	case out.maxBody < 0 || out.maxBody > mostBody:
		return nil, fmt.Errorf("max_body is at most %d bytes", mostBody)
	}
	for _, step := range []func(*Source, *caddy.Replacer) error{out.setAddresses, out.setStatuses, out.setPointers, out.headersOf} {
		if err := step(s, repl); err != nil {
			return nil, err
		}
	}
	var err error
	if out.timeout, err = remote.Timeout(s.Timeout); err != nil {
		return nil, err
	}
	ca, err := repl.ReplaceOrErr(s.CA, true, true)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	roots, err := remote.Trust(out.tls, ca)
	if err != nil {
		return nil, err
	}
	if err := remote.TrustText(out.tls, s.trusted); err != nil {
		return nil, err
	}
	out.identity, err = remote.NewIdentity(s, out.url, out.lookup, out.headers, out.host, roots, s.trusted)
	return out, err
}

// setAddresses allows no password to cross a network in the clear.
func (out *settings) setAddresses(s *Source, repl *caddy.Replacer) error {
	var err error
	if out.url, err = repl.ReplaceOrErr(s.URL, true, true); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if err := checkAddress(out.url); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if s.Lookup == "" {
		return nil
	}
	for part := range strings.SplitSeq(s.Lookup, idPlaceholder) {
		if part, err = repl.ReplaceOrErr(part, true, true); err != nil {
			return fmt.Errorf("lookup: %w", err)
		}
		out.lookup = append(out.lookup, part)
	}
	if err := checkAddress(strings.Join(out.lookup, "x")); err != nil {
		return fmt.Errorf("lookup: %w", err)
	}
	if before, _, _ := strings.Cut(out.lookup[0], "?"); len(out.lookup) < 2 || strings.Count(before, "/") < 3 {
		return errors.New("lookup: expected {id} in the path or the query")
	}
	return nil
}

func checkAddress(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("expected an address such as https://legacy.example.com/login, without user and fragment")
	case u.Scheme == "http" && !remote.Loopback(u.Hostname()):
		return errors.New("http:// would send passwords in the clear: expected https://, or a loopback address")
	}
	return nil
}

func (out *settings) setStatuses(*Source, *caddy.Replacer) error {
	for _, n := range slices.Concat(out.ok, out.refused) {
		if n < 200 || n > 599 {
			return fmt.Errorf("%d is not the status of an answer", n)
		}
	}
	for _, n := range out.ok {
		if slices.Contains(out.refused, n) {
			return fmt.Errorf("the status %d cannot mean both ok and refused", n)
		}
		if n >= 300 {
			return fmt.Errorf("ok: the status %d does not mean success", n)
		}
	}
	return nil
}

func (out *settings) setPointers(s *Source, _ *caddy.Replacer) (err error) {
	out.fields, out.claims = make(map[string]pointer), make(map[string]pointer)
	out.fields["id"], out.fields["username"] = pointer{"id"}, pointer{"username"}
	for field, text := range s.Fields {
		if !slices.Contains(knownFields, field) {
			return fmt.Errorf("fields: unknown field %q, expected one of %s", field, strings.Join(knownFields, ", "))
		}
		if out.fields[field], err = parsePointer(text); err != nil {
			return fmt.Errorf("fields: %s: %w", field, err)
		}
	}
	for name, text := range s.Claims {
		if out.claims[name], err = parsePointer(text); err != nil {
			return fmt.Errorf("claim %s: %w", name, err)
		}
	}
	if s.RefusedID != "" {
		if out.refusedID, err = parsePointer(s.RefusedID); err != nil {
			return fmt.Errorf("refused_id: %w", err)
		}
	}
	if out.okWhen, err = s.OKWhen.parseCondition(); err != nil {
		return fmt.Errorf("ok_when: %w", err)
	}
	if out.badWhen, err = s.RefusedWhen.parseCondition(); err != nil {
		return fmt.Errorf("refused_when: %w", err)
	}
	return nil
}

func (c *Condition) parseCondition() (*when, error) {
	if c == nil {
		return nil, nil
	}
	if len(c.Values) == 0 {
		return nil, errors.New("expected at least one value")
	}
	at, err := parsePointer(c.Pointer)
	return &when{at, c.Values}, err
}

func (out *settings) headersOf(s *Source, repl *caddy.Replacer) error {
	out.headers = make(http.Header)
	for name, value := range s.Headers {
		value, err := repl.ReplaceOrErr(value, true, true)
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name), !httpguts.ValidHeaderFieldValue(value):
			return fmt.Errorf("header %q: not a header", name)
		case canonical == "Host":
			out.host = value
		case slices.Contains([]string{"Content-Length", "Content-Type", "Transfer-Encoding", "Connection"}, canonical):
			return fmt.Errorf("header %s is ours to set", canonical)
		case out.headers[canonical] != nil:
			return fmt.Errorf("header %s is given twice", canonical)
		default:
			out.headers[canonical] = []string{value}
		}
	}
	return nil
}
