package ldap

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-ldap/ldap/v3"
	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
)

// guid is Active Directory's name of an entry, 16 bytes of which the first eight are written in another order.
const guid = "objectGUID"

var guidOrder = [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}

// userID returns the ID of the user whom an entry describes.
func (s *settings) userID(e *ldap.Entry) (string, error) {
	values := e.GetEqualFoldRawAttributeValues(s.id)
	if len(values) != 1 {
		return "", fmt.Errorf("an entry of the LDAP server has %d values of %s, which must be exactly one", len(values), s.id)
	}
	if !strings.EqualFold(s.id, guid) {
		return string(values[0]), nil
	}
	if len(values[0]) != len(guidOrder) {
		return "", errors.New("an entry of the LDAP server has an objectGUID that is not 16 bytes long")
	}
	return formatGUID(values[0]), nil
}

// userFrom is what an entry says about a user. ID and user name must be sound; any other value that is not is left
// out, since the other applications of a directory live with it too.
func (s *settings) userFrom(e *ldap.Entry) (directory.User, error) {
	var u directory.User
	var err error
	if u.ID, err = s.userID(e); err != nil {
		return u, err
	}
	for field, text := range u.Texts() {
		if s.fields[field] == "" {
			continue
		}
		for _, v := range e.GetEqualFoldAttributeValues(s.fields[field]) {
			if v = norm.NFC.String(strings.TrimSpace(v)); isCleanText(v) {
				*text = v
				break
			}
		}
	}
	u = u.Presentable()
	for name, attribute := range s.claims {
		var list []any
		for _, v := range e.GetEqualFoldAttributeValues(attribute) {
			if utf8.ValidString(v) {
				list = append(list, v)
			}
		}
		if len(list) == 0 {
			continue
		}
		if u.Claims == nil {
			u.Claims = make(map[string]any)
		}
		if u.Claims[name] = list; len(list) == 1 {
			u.Claims[name] = list[0]
		}
	}
	if err := u.Check(); err != nil {
		return directory.User{}, fmt.Errorf("an entry of the LDAP server: %w", err)
	}
	return u, nil
}

func isCleanText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// idFilter matches the entry of an ID; ok is false for one that nobody can have.
func (s *settings) idFilter(id string) (filter string, ok bool) {
	if directory.CheckID(id) != nil {
		return "", false
	}
	if !strings.EqualFold(s.id, guid) {
		return "(" + s.id + "=" + ldap.EscapeFilter(id) + ")", true
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(raw) != len(guidOrder) {
		return "", false
	}
	var text strings.Builder
	for i := range guidOrder {
		fmt.Fprintf(&text, `\%02x`, raw[guidOrder[i]]) // the order is its own inverse
	}
	return "(" + s.id + "=" + text.String() + ")", true
}

func formatGUID(raw []byte) string {
	var in [16]byte
	for i, from := range guidOrder {
		in[i] = raw[from]
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", in[:4], in[4:6], in[6:8], in[8:10], in[10:])
}
