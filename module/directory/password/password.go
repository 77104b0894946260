package password

import (
	"errors"
	"strings"
)

// maxHash is the longest text that is parsed as a hash, in bytes.
const maxHash = 1024

// errUnknown never quotes the text.
var errUnknown = errors.New("is not a password hash of a known form")

// Parsed is a hash that is well-formed and not too costly. It is immutable and safe for concurrent use.
type Parsed struct {
	cost     Cost
	outdated bool
	check    func(password string) bool
}

// Parse reads a hash of one of these forms. Its errors never quote it.
//
//   - $argon2id$ and $argon2i$ (RFC 9106; PHP's password_hash, too)
//   - $2a$, $2b$, $2y$ (bcrypt) and WordPress's $wp$2y$ over HMAC-SHA-384
//   - $P$, $H$ (phpass of WordPress and phpBB) and Drupal's $S$
//   - $1$, $apr1$ (md5-crypt), $5$, $6$ (sha-crypt)
//   - pbkdf2_sha256$, pbkdf2_sha1$, scrypt$, argon2$, bcrypt$ and bcrypt_sha256$ of Django, pbkdf2: and scrypt: of Werkzeug
//     (Flask), and $pbkdf2$, $pbkdf2-sha256$, $pbkdf2-sha512$ and $scrypt$ of passlib
//   - {SSHA}, {SHA}, {SMD5}, {MD5}, {SSHA256}, {SSHA384}, {SSHA512} and their forms
//     without salt, {CRYPT}, {BCRYPT} and {ARGON2}, as in LDAP (RFC 2307)
//
// Digits of a digest alone say too little: see [Scheme].
func Parse(hash string) (*Parsed, error) {
	if len(hash) > maxHash {
		return nil, errUnknown
	}
	return parseHash(hash)
}

func parseHash(hash string) (*Parsed, error) {
	switch {
	case strings.HasPrefix(hash, "$argon2"):
		return parseArgon2(hash)
	case strings.HasPrefix(hash, "$2"):
		return parseBcrypt(hash)
	case strings.HasPrefix(hash, wordpressPrefix):
		return parseWordPress(hash)
	case strings.HasPrefix(hash, "$P$"), strings.HasPrefix(hash, "$H$"), strings.HasPrefix(hash, "$S$"):
		return parsePhpass(hash)
	case strings.HasPrefix(hash, "$1$"), strings.HasPrefix(hash, "$apr1$"):
		return parseMD5Crypt(hash)
	case strings.HasPrefix(hash, "$5$"), strings.HasPrefix(hash, "$6$"):
		return parseSHACrypt(hash)
	case strings.HasPrefix(hash, "pbkdf2_"), strings.HasPrefix(hash, "pbkdf2:"), strings.HasPrefix(hash, "$pbkdf2"):
		return parsePBKDF2(hash)
	case strings.HasPrefix(hash, "scrypt$"), strings.HasPrefix(hash, "scrypt:"), strings.HasPrefix(hash, "$scrypt$"):
		return parseScrypt(hash)
	case strings.HasPrefix(hash, "argon2$argon2"), strings.HasPrefix(hash, "bcrypt$$2"): // Django names the algorithm first
		return parseHash(strings.TrimPrefix(strings.TrimPrefix(hash, "argon2"), "bcrypt$"))
	case strings.HasPrefix(hash, djangoSHA256Prefix):
		return parseDjangoBcrypt(hash)
	case strings.HasPrefix(hash, "{"):
		return parseLDAP(hash)
	}
	return nil, errUnknown
}

// Matches reports whether this is the hash of the password, in time that does not depend on the result.
func (p *Parsed) Matches(password string) bool { return p.check(password) }

// Outdated reports whether [Hash] would make a better hash: this one is not of Argon2id, or requires less
// work.
func (p *Parsed) Outdated() bool { return p.outdated }

// Cost returns the cost of a check of the hash.
func (p *Parsed) Cost() Cost { return p.cost }
