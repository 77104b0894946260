package password

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"hash"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// ldapForms are digests in base64 with the salt, if any, after the digest.
var ldapForms = map[string]struct {
	new    func() hash.Hash
	salted bool
}{
	"MD5": {md5.New, false}, "SMD5": {md5.New, true},
	"SHA": {sha1.New, false}, "SSHA": {sha1.New, true},
	"SHA256": {sha256.New, false}, "SSHA256": {sha256.New, true},
	"SHA384": {sha512.New384, false}, "SSHA384": {sha512.New384, true},
	"SHA512": {sha512.New, false}, "SSHA512": {sha512.New, true},
}

// wrapped are the scheme names in front of hashes that identify their own format.
var wrapped = map[string]string{"CRYPT": "$", "BCRYPT": "$2", "ARGON2": "$argon2"}

// maxLDAPSalt is the longest salt after a digest, in bytes; 4 to 16 are usual.
const maxLDAPSalt = 64

// parseLDAP reads {NAME} and the hash after it. The name is case-insensitive (RFC 2307 section
// 5.3, which has SHA and MD5; the others are common).
func parseLDAP(text string) (*Parsed, error) {
	name, rest, ok := strings.Cut(text[1:], "}")
	name = strings.ToUpper(name)
	if inner, is := wrapped[name]; ok && is {
		if !strings.HasPrefix(rest, inner) {
			return nil, errUnknown
		}
		return Parse(rest)
	}
	form, is := ldapForms[name]
	if !ok || !is {
		return nil, errUnknown
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(rest)
	size := form.new().Size()
	switch {
	case err != nil || strings.ContainsAny(rest, "\r\n"):
		return nil, errors.New("has a digest that is not in base64")
	case len(raw) < size, len(raw) > size && !form.salted, len(raw) > size+maxLDAPSalt:
		return nil, errors.New("has a digest whose length does not match its name")
	}
	stored, salt := raw[:size], raw[size:]
	return &Parsed{
		cost:     Cost{kind: "{" + name + "}"},
		outdated: true,
		check: func(password string) bool {
			h := form.new()
			h.Write([]byte(password))
			h.Write(salt)
			return secret.Equal(stored, h.Sum(nil))
		},
	}, nil
}
