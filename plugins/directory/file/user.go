package file

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatehouse/gatehouse/module/directory/password"
)

func (p *parser) readUser(index int) error {
	e, hash := &entry{}, ""
	texts := map[string]*string{
		"id": &e.user.ID, "username": &e.user.Username, "password_hash": &hash, "name": &e.user.Name,
		"nickname": &e.user.Nickname, "picture": &e.user.Picture, "email": &e.user.Email, "phone": &e.user.Phone,
	}
	begins := int64(0)
	err := p.readObject(func(key string) error {
		begins = cmp.Or(begins, p.dec.InputOffset())
		var err error
		switch {
		case texts[key] != nil:
			*texts[key], err = readScalar[string](p, "a string")
		case key == "locked":
			e.user.Locked, err = readScalar[bool](p, "true or false")
		case key == "claims":
			err = p.readClaims(&e.user.Claims)
		default:
			return fmt.Errorf("unknown field %s", quoteName(key))
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", key, err)
		}
		return nil
	})
	if err == nil {
		e.user.Username = canonicalName(e.user.Username)
		if err = p.checkEntry(e, hash); err != nil {
			p.at = begins
		}
	}
	if err != nil {
		return fmt.Errorf("users[%d]%s: %w", index, e.displayName(), err)
	}
	return nil
}

// readScalar reads one value of a type. null is of no type: it would mean nothing.
func readScalar[T string | bool](p *parser, what string) (value T, err error) {
	t, err := p.dec.Token()
	if err != nil {
		return value, syntaxError(err)
	}
	value, ok := t.(T)
	if !ok {
		return value, errors.New("must be " + what)
	}
	return value, nil
}

func (p *parser) readClaims(to *map[string]any) error {
	var raw json.RawMessage
	if err := p.dec.Decode(&raw); err != nil {
		return syntaxError(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // a claim of 17 digits stays what it is
	if raw[0] != '{' || dec.Decode(to) != nil {
		return errors.New("must be an object") // the decoder's words may quote the value
	}
	return nil
}

func (e *entry) displayName() string {
	if name := e.user.Username; name != "" {
		return " " + quoteName(name)
	}
	return ""
}

func (p *parser) checkEntry(e *entry, hash string) error {
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
	return p.addUser(e)
}
