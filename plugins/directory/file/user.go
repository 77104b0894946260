package file

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/gatehouse/gatehouse/module/token"
)

const (
	maxID       = 255 // OpenID Connect Core section 2: a subject has at most 255 ASCII characters
	maxUsername = 256 // bytes
)

func (p *parser) user(index int) error {
	e := &entry{}
	texts := map[string]*string{
		"id": &e.user.ID, "username": &e.user.Username, "password_hash": &e.hash, "name": &e.user.Name,
		"nickname": &e.user.Nickname, "picture": &e.user.Picture, "email": &e.user.Email, "phone": &e.user.Phone,
	}
	begins := int64(0)
	err := p.object(func(key string) error {
		begins = cmp.Or(begins, p.dec.InputOffset())
		var err error
		switch {
		case texts[key] != nil:
			err = p.value(texts[key], `"`, "a string")
		case key == "locked":
			err = p.value(&e.user.Locked, "tf", "true or false")
		case key == "claims":
			err = p.value(&e.user.Claims, "{", "an object")
		default:
			return fmt.Errorf("unknown field %s", shown(key))
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", key, err)
		}
		return nil
	})
	if err == nil {
		e.user.Username = canonical(e.user.Username)
		if err = p.check(e); err != nil {
			p.at = begins
		}
	}
	if err != nil {
		return fmt.Errorf("users[%d]%s: %w", index, e.called(), err)
	}
	return nil
}

// value decodes one value whose text begins with one of the bytes in first: null
// would otherwise pass for any type and mean nothing.
func (p *parser) value(to any, first, what string) error {
	var raw json.RawMessage
	if err := p.dec.Decode(&raw); err != nil {
		return syntax(err)
	}
	if !strings.ContainsRune(first, rune(raw[0])) {
		return errors.New("must be " + what)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // a claim of 17 digits stays what it is
	if err := dec.Decode(to); err != nil {
		return errors.New("must be " + what) // the decoder's words may quote the value
	}
	return nil
}

func (e *entry) called() string {
	if name := e.user.Username; name != "" {
		return " " + shown(name)
	}
	return ""
}

func (p *parser) check(e *entry) error {
	u := e.user
	switch {
	case u.ID == "":
		return errors.New("the id is missing")
	case len(u.ID) > maxID || strings.ContainsFunc(u.ID, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("the id must be at most %d printable ASCII characters without spaces", maxID)
	case strings.HasPrefix(u.ID, token.ClientSubject):
		return fmt.Errorf("the id begins with %q, which is kept for clients", token.ClientSubject)
	case u.Username == "":
		return errors.New("the username is missing")
	case len(u.Username) > maxUsername:
		return fmt.Errorf("the username is longer than %d bytes", maxUsername)
	case u.Username != strings.TrimSpace(u.Username):
		return errors.New("the username begins or ends with a space")
	case e.hash == "":
		return errors.New("the password_hash is missing: make it with `caddy gatehouse user hash`")
	}
	for _, text := range []string{u.Username, u.Name, u.Nickname, u.Picture, u.Email, u.Phone} {
		if strings.ContainsFunc(text, unicode.IsControl) {
			return errors.New("a text has a control character in it")
		}
	}
	if u.Picture != "" {
		if at, err := url.Parse(u.Picture); err != nil || at.Scheme != "https" || at.Host == "" {
			return errors.New("the picture must be an https URL")
		}
	}
	params, err := parametersOf(e.hash)
	if err != nil {
		return fmt.Errorf("the password_hash %w", err)
	}
	return p.add(e, params)
}
