package file

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse/gatehouse/module/directory/password"
)

func (p *parser) user(index int) error {
	e, hash := &entry{}, ""
	texts := map[string]*string{
		"id": &e.user.ID, "username": &e.user.Username, "password_hash": &hash, "name": &e.user.Name,
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
		if err = p.check(e, hash); err != nil {
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

func (p *parser) check(e *entry, hash string) error {
	if err := e.user.Check(); err != nil {
		return err
	}
	if hash == "" {
		return errors.New("the password_hash is missing: make it with `caddy gatehouse user hash`")
	}
	var err error
	if e.pass, err = password.Parse(hash); err != nil {
		return fmt.Errorf("the password_hash %w: make one with `caddy gatehouse user hash`", err)
	}
	return p.add(e)
}
