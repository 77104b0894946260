package password

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"golang.org/x/crypto/argon2"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Bounds of an Argon2 hash. The upper bounds prevent denial of service: a sign-in may take no
// more than 1 GiB of memory and a few seconds, whoever wrote the hash. The lower bounds are
// those of RFC 9106 section 3.1, with a tag that cannot be guessed.
const (
	maxMemory  = 1 << 20 // KiB
	maxTime    = 64
	maxWork    = 4 << 20 // KiB times passes
	minSalt    = 8
	minTag     = 16
	maxDecoded = 128 // bytes of salt, and of tag
)

// usual has the parameters of Caddy's own hasher, the first choice of OWASP's password storage
// cheat sheet.
var usual = Cost{kind: "argon2id", memory: 46 * 1024, rounds: 1, threads: 1, salt: 16, tag: 32}

// Usual returns the cost of the hashes that [Hash] makes.
func Usual() Cost { return usual }

// Hash returns an Argon2id hash of the password with a random salt, in the PHC form
// $argon2id$v=19$m=47104,t=1,p=1$<salt>$<tag>. It accepts any bytes; the caller decides what a
// password may be, and normalizes it.
func Hash(password string) string { return usual.hashPassword(password) }

// hashPassword is Hash with the parameters of c, which must be of Argon2id.
func (c Cost) hashPassword(password string) string {
	salt := secret.Bytes(c.salt)
	return c.formatPHC(salt, argon2.IDKey([]byte(password), salt, c.rounds, c.memory, uint8(c.threads), uint32(c.tag)))
}

func (c Cost) formatPHC(salt, tag []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$%s$v=%d$m=%d,t=%d,p=%d$%s$%s", c.kind, argon2.Version, c.memory, c.rounds, c.threads,
		b64.EncodeToString(salt), b64.EncodeToString(tag))
}

// The groups are bounded, so that no number overflows and no match takes long.
var phc = regexp.MustCompile(`^\$(argon2id?)\$v=19\$m=([1-9][0-9]{0,8}),t=([1-9][0-9]{0,8}),p=([1-9][0-9]{0,2})\$([A-Za-z0-9+/]{1,255})\$([A-Za-z0-9+/]{1,255})$`)

func parseArgon2(hash string) (*Parsed, error) {
	m := phc.FindStringSubmatch(hash)
	if m == nil {
		return nil, errors.New("is no Argon2 hash of the form $argon2id$v=19$m=...,t=...,p=...$salt$hash")
	}
	salt, errSalt := base64.RawStdEncoding.Strict().DecodeString(m[5])
	tag, errTag := base64.RawStdEncoding.Strict().DecodeString(m[6])
	if errSalt != nil || errTag != nil {
		return nil, errors.New("has a salt or hash that is not in base64")
	}
	c := Cost{kind: m[1], memory: parseNumber(m[2]), rounds: parseNumber(m[3]), threads: parseNumber(m[4]), salt: len(salt), tag: len(tag)}
	switch {
	case c.threads > 255 || c.memory < 8*c.threads:
		return nil, errors.New("has p above 255, or m below 8 times p")
	case c.memory > maxMemory || c.rounds > maxTime || uint64(c.memory)*uint64(c.rounds) > maxWork:
		return nil, fmt.Errorf("asks for more work than is allowed: at most m=%d (KiB) and t=%d, and %d for m times t", maxMemory, maxTime, maxWork)
	case c.salt < minSalt || c.salt > maxDecoded || c.tag < minTag || c.tag > maxDecoded:
		return nil, fmt.Errorf("needs a salt of %d to %d bytes and a hash of %d to %d", minSalt, maxDecoded, minTag, maxDecoded)
	}
	key := argon2.IDKey
	if c.kind == "argon2i" {
		key = argon2.Key
	}
	return &Parsed{
		cost:     c,
		outdated: c.kind != usual.kind || uint64(c.memory)*uint64(c.rounds) < uint64(usual.memory)*uint64(usual.rounds),
		check: func(password string) bool {
			return secret.Equal(tag, key([]byte(password), salt, c.rounds, c.memory, uint8(c.threads), uint32(c.tag)))
		},
	}, nil
}

// parseNumber reads digits whose number a pattern has bounded.
func parseNumber(digits string) uint32 {
	n, _ := strconv.ParseUint(digits, 10, 32)
	return uint32(n)
}
