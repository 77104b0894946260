package file

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/password"
)

type entry struct {
	user directory.User
	pass *password.Parsed
}

// users is the content of a file. It does not change once made.
type users struct {
	byID   map[string]*entry
	byName map[string]*entry // by user name in normal form C
	// unknown stands in for a user that there is not, so that its hash is computed.
	unknown *entry
	// unlike is the number of users whose hash takes another time than unknown's, weak
	// that of hashes which cost a thief next to nothing.
	unlike, weak int
}

// parser reads one file. Every error it gives names the file and the line, and the
// user where there is one, but no value other than an ID or a user name.
type parser struct {
	path string
	data []byte
	dec  *json.Decoder
	// at is where a user begins whose fields do not fit together; else a mistake is
	// where the decoder stands.
	at int64

	users users
	folds map[string]string // user name without letter case -> user name
	fold  cases.Caser
	count map[password.Cost]int
}

func parseUsers(path string, data []byte) (*users, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // Windows editors put a byte order mark there
	p := &parser{
		path:  path,
		data:  data,
		dec:   json.NewDecoder(bytes.NewReader(data)),
		users: users{byID: map[string]*entry{}, byName: map[string]*entry{}},
		folds: map[string]string{},
		fold:  cases.Fold(),
		count: map[password.Cost]int{},
	}
	if !utf8.Valid(data) {
		return nil, p.errorAt(validUpTo(data), errors.New("is not UTF-8"))
	}
	if err := p.readDocument(); err != nil {
		return nil, err
	}
	most, others := password.MostUsed(p.count)
	dummy, err := password.Parse(most.Dummy())
	if err != nil {
		return nil, p.errorAt(0, err)
	}
	p.users.unknown, p.users.unlike = &entry{pass: dummy}, others
	return &p.users, nil
}

func (p *parser) readDocument() error {
	given := false
	err := p.readObject(func(key string) error {
		if key != "users" {
			return fmt.Errorf("unknown field %s, expected `users`", quoteName(key))
		}
		given = true
		if err := p.expectDelim('[', "a list of users"); err != nil {
			return err
		}
		for i := 0; p.dec.More(); i++ {
			if err := p.readUser(i); err != nil {
				return err
			}
		}
		return p.expectDelim(']', "the end of the list of users")
	})
	if err != nil {
		return p.errorAt(cmp.Or(p.at, p.dec.InputOffset()), err)
	}
	if !given {
		return p.errorAt(0, errors.New("the field `users` is missing"))
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return p.errorAt(p.dec.InputOffset(), errors.New("something follows the closing brace"))
	}
	return nil
}

// readObject reads an object and calls field for each key with the decoder standing
// before its value.
func (p *parser) readObject(field func(key string) error) error {
	if err := p.expectDelim('{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		t, err := p.dec.Token()
		if err != nil {
			return syntaxError(err)
		}
		key, _ := t.(string) // the decoder takes nothing else for a key
		if seen[key] {
			return fmt.Errorf("the field %s is given twice", quoteName(key))
		}
		seen[key] = true
		if err := field(key); err != nil {
			return err
		}
	}
	return p.expectDelim('}', "the end of the object")
}

func (p *parser) expectDelim(delim json.Delim, what string) error {
	t, err := p.dec.Token()
	if err != nil {
		return syntaxError(err)
	}
	if t != delim {
		return fmt.Errorf("expected %s, %q", what, delim.String())
	}
	return nil
}

// syntaxError keeps the decoder's words about the form and drops those about values.
func syntaxError(err error) error {
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("no valid JSON: %w", bad)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("no valid JSON: the file ends too early")
	}
	return errors.New("no valid JSON")
}

// quoteName quotes a name for an error, unless it could be a hash that stands in the
// wrong place.
func quoteName(name string) string {
	if len(name) > 100 || strings.Contains(name, "$") {
		return "(not shown)"
	}
	return strconv.Quote(name)
}

func (p *parser) errorAt(offset int64, err error) error {
	offset = min(offset, int64(len(p.data)))
	return fmt.Errorf("%s:%d: %w", p.path, bytes.Count(p.data[:offset], []byte("\n"))+1, err)
}

func validUpTo(data []byte) int64 {
	return int64(len(data) - len(bytes.TrimLeftFunc(data, func(r rune) bool { return r != utf8.RuneError })))
}

// canonicalName returns the form in which user names are compared and shown.
func canonicalName(username string) string { return norm.NFC.String(username) }

func (p *parser) addUser(e *entry) error {
	id, name := e.user.ID, e.user.Username
	if _, twice := p.users.byID[id]; twice {
		return fmt.Errorf("the id %s is another user's already", quoteName(id))
	}
	folded := p.fold.String(name)
	if other, twice := p.folds[folded]; twice {
		if other == name {
			return errors.New("the username is another user's already")
		}
		return fmt.Errorf("the username differs from %s in letter case only", quoteName(other))
	}
	p.users.byID[id], p.users.byName[name], p.folds[folded] = e, e, name
	if e.pass.Cost().Quick() {
		p.users.weak++
	} else {
		p.count[e.pass.Cost()]++
	}
	return nil
}
