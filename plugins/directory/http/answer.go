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

// decodeAnswer reads an answer. Numbers stay as they are written: an ID of 17 digits must not
// be rounded to another user's.
func decodeAnswer(body []byte) (any, error) {
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

// isMet tells whether the answer fulfils a condition.
func (w *when) isMet(answer any) bool {
	v := w.at.findValue(answer)
	s, ok := textValue(v)
	return ok && v != nil && slices.Contains(w.values, s)
}

// refusedUser is the ID that a refusal tells, "" for none. Nothing else depends on it than
// under what the failure is counted, so what cannot be read is no error.
func (s *settings) refusedUser(body []byte) string {
	if s.refusedID == nil {
		return ""
	}
	answer, err := decodeAnswer(body)
	if err != nil {
		return ""
	}
	if id, ok := textValue(s.refusedID.findValue(answer)); ok && directory.CheckID(id) == nil {
		return id
	}
	return ""
}

// userFrom is what an answer says; typed is the user name to fall back to. ID and user name
// must be sound; any other text that is not is left out.
func (s *settings) userFrom(answer any, typed string) (directory.User, error) {
	var u directory.User
	u.ID, _ = textValue(s.fields["id"].findValue(answer))
	for field, text := range u.Texts() {
		if at, ok := s.fields[field]; ok {
			v, _ := textValue(at.findValue(answer))
			*text = norm.NFC.String(strings.TrimSpace(v))
		}
	}
	u.Username = cmp.Or(u.Username, typed)
	u = u.Presentable()
	for name, at := range s.claims {
		if v := at.findValue(answer); v != nil {
			if u.Claims == nil {
				u.Claims = make(map[string]any)
			}
			u.Claims[name] = v
		}
	}
	if at, ok := s.fields["locked"]; ok {
		v, plain := textValue(at.findValue(answer))
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
