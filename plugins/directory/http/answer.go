package http

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
)

var errUnreadable = errors.New("the endpoint's answer cannot be read: expected one JSON document")

// decode reads an answer. Numbers stay as they are written: an ID of 17 digits must not
// be rounded to another user's.
func decode(body []byte) (any, error) {
	if !utf8.Valid(body) {
		return nil, errUnreadable
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errUnreadable
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errUnreadable
	}
	return v, nil
}

// holds tells whether the answer fulfils a condition.
func (w *when) holds(answer any) bool {
	v := w.at.find(answer)
	s, ok := text(v)
	return ok && v != nil && slices.Contains(w.values, s)
}

// refusedUser is the ID that a refusal tells, "" for none. Nothing else depends on it than
// under what the failure is counted, so what cannot be read is no error.
func (s *settings) refusedUser(body []byte) string {
	if s.refusedID == nil {
		return ""
	}
	answer, err := decode(body)
	if err != nil {
		return ""
	}
	if id, ok := text(s.refusedID.find(answer)); ok && directory.CheckID(id) == nil {
		return id
	}
	return ""
}

// user is what an answer says; typed is the user name to fall back to. ID and user name
// must be sound; any other text that is not is left out.
func (s *settings) user(answer any, typed string) (directory.User, error) {
	get := func(field string) string {
		at, ok := s.fields[field]
		if !ok {
			return ""
		}
		v, _ := text(at.find(answer))
		return norm.NFC.String(strings.TrimSpace(v))
	}
	id, _ := text(s.fields["id"].find(answer))
	u := directory.User{
		ID: id, Username: cmp.Or(get("username"), typed), Name: get("name"), Nickname: get("nickname"),
		Email: get("email"), Phone: get("phone"), Picture: get("picture"),
	}.Presentable()
	for name, at := range s.claims {
		if v := at.find(answer); v != nil {
			if u.Claims == nil {
				u.Claims = make(map[string]any)
			}
			u.Claims[name] = v
		}
	}
	if at, ok := s.fields["locked"]; ok {
		v, plain := text(at.find(answer))
		if !plain {
			return directory.User{}, errors.New("the endpoint's answer: `locked` is neither true nor false")
		}
		switch strings.ToLower(v) {
		case "", "false", "no", "0":
		default:
			u.Locked = true
		}
	}
	if err := u.Check(); err != nil {
		return directory.User{}, errors.New("the endpoint's answer about a user: " + err.Error())
	}
	return u, nil
}
