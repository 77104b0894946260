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
			err = p.readValue(texts[key], `"`, "a string")
		case key == "locked":
			err = p.readValue(&e.user.Locked, "tf", "true or false")
		case key == "claims":
			err = p.readValue(&e.user.Claims, "{", "an object")
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

// readValue decodes one value whose text begins with one of the bytes in first: null
// would otherwise pass for any type and mean nothing.
func (p *parser) readValue(to any, first, what string) error {
	var raw json.RawMessage
	if err := p.dec.Decode(&raw); err != nil {
		return syntaxError(err)
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
