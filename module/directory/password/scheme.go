package password

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Scheme describes how a program made the hexadecimal digests that it stores, such as
// md5(salt+password). The zero Scheme stands for none.
type Scheme struct {
	text string // its canonical spelling
	top  *term
}

// term is the password, the salt, or the hexadecimal digest of a sequence of terms.
type term struct {
	word string // "password", "salt" or a name in digests
	of   []term
}

var digests = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}

// Bounds of a scheme. An operator writes it, so they only guard against mistakes.
const (
	maxScheme = 200 // bytes
	maxSalt   = 255 // bytes
)

var errScheme = errors.New("expected a digest (md5, sha1, sha256 or sha512) of password and salt in the order they are joined, such as md5(password), sha1(salt+password) or md5(md5(password)+salt)")

// ParseScheme reads a scheme: md5, sha1, sha256 or sha512 of the terms in parentheses, which are joined by +:
// password, salt, or another digest, in lower-case hex. A name alone, such as md5, stands for the digest of the
// password.
func ParseScheme(text string) (Scheme, error) {
	s := strings.Join(strings.Fields(text), "")
	if digests[s] != nil {
		s += "(password)"
	}
	if len(s) > maxScheme {
		return Scheme{}, errScheme
	}
	t, rest, err := parseTerm(s)
	switch {
	case err != nil:
		return Scheme{}, err
	case rest != "" || t.of == nil || !t.has("password"):
		return Scheme{}, errScheme
	}
	return Scheme{text: s, top: &t}, nil
}

func parseTerm(s string) (term, string, error) {
	end := strings.IndexAny(s, "()+")
	if end < 0 {
		end = len(s)
	}
	t := term{word: s[:end]}
	s = s[end:]
	if t.word == "password" || t.word == "salt" {
		return t, s, nil
	}
	if digests[t.word] == nil || !strings.HasPrefix(s, "(") {
		return term{}, "", errScheme
	}
	for {
		part, rest, err := parseTerm(s[1:]) // after the parenthesis or the plus
		if err != nil {
			return term{}, "", err
		}
		t.of = append(t.of, part)
		switch {
		case strings.HasPrefix(rest, "+"):
			s = rest
		case strings.HasPrefix(rest, ")"):
			return t, rest[1:], nil
		default:
			return term{}, "", errScheme
		}
	}
}

// Parse reads a hexadecimal digest, of either letter case, that was made by this scheme. Its errors never
// quote it.
func (s Scheme) Parse(digest, salt string) (*Parsed, error) {
	if s.top == nil {
		return nil, errUnknown
	}
	size := digests[s.top.word]().Size()
	stored, err := hex.DecodeString(digest)
	switch {
	case err != nil || len(stored) != size:
		return nil, fmt.Errorf("is not the %d hex digits of %s", 2*size, s.top.word)
	case len(salt) > maxSalt:
		return nil, fmt.Errorf("has a salt of more than %d bytes", maxSalt)
	case salt == "" && s.top.has("salt"):
		return nil, errors.New("has no salt, which its scheme needs")
	}
	return &Parsed{
		cost:     Cost{kind: s.text},
		outdated: true,
		check: func(password string) bool {
			return secret.Equal(stored, s.top.sum(password, salt))
		},
	}, nil
}

func (t term) has(word string) bool {
	if t.word == word {
		return true
	}
	for _, part := range t.of {
		if part.has(word) {
			return true
		}
	}
	return false
}

func (t term) sum(password, salt string) []byte {
	h := digests[t.word]()
	for _, part := range t.of {
		switch part.word {
		case "password":
			h.Write([]byte(password))
		case "salt":
			h.Write([]byte(salt))
		default:
			h.Write([]byte(hex.EncodeToString(part.sum(password, salt))))
		}
	}
	return h.Sum(nil)
}
