package password

import (
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"regexp"
	"strings"

	"golang.org/x/crypto/scrypt"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Bounds of PBKDF2's iterations and of scrypt's parameters. The upper bounds prevent denial of service: a few seconds, and
// 256 MiB of memory. Django 6 writes 1,200,000 iterations, and scrypt with N=2^14, r=8, p=5.
const (
	minIterations = 1000
	maxIterations = 5_000_000
	minScrypt     = 10      // binary logarithm of N
	maxScrypt     = 20      // the same
	maxScryptMem  = 1 << 21 // N times r, each 128 bytes
	maxScryptWork = 1 << 22 // N times r times p
)

var pbkdf2Digests = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}

// The forms, and what is in their groups: the digest or the parameters, then salt and key.
var (
	djangoPBKDF2   = regexp.MustCompile(`^pbkdf2_(sha1|sha256)\$([1-9][0-9]{0,8})\$([^$]{1,128})\$([A-Za-z0-9+/]{1,255}=*)$`)
	werkzeugPBKDF2 = regexp.MustCompile(`^pbkdf2:(sha1|sha256|sha512):([1-9][0-9]{0,8})\$([^$]{1,128})\$([0-9a-f]{1,255})$`)
	passlibPBKDF2  = regexp.MustCompile(`^\$pbkdf2(|-sha256|-sha512)\$([1-9][0-9]{0,8})\$([A-Za-z0-9./]{0,171})\$([A-Za-z0-9./]{1,255})$`)

	djangoScrypt   = regexp.MustCompile(`^scrypt\$([^$]{1,128})\$([1-9][0-9]{0,8})\$([1-9][0-9]{0,3})\$([1-9][0-9]{0,3})\$([A-Za-z0-9+/]{1,255}=*)$`)
	werkzeugScrypt = regexp.MustCompile(`^scrypt:([1-9][0-9]{0,8}):([1-9][0-9]{0,3}):([1-9][0-9]{0,3})\$([^$]{1,128})\$([0-9a-f]{1,255})$`)
	passlibScrypt  = regexp.MustCompile(`^\$scrypt\$ln=([1-9][0-9]?),r=([1-9][0-9]{0,3}),p=([1-9][0-9]{0,3})\$([A-Za-z0-9+/]{0,171})\$([A-Za-z0-9+/]{1,255})$`)
)

// passlibDots is the base64 of passlib's PBKDF2, with dots for pluses.
var passlibDots = base64.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./").WithPadding(base64.NoPadding).Strict()

// parsePBKDF2 reads the forms of Django, Werkzeug (Flask) and passlib. In the first two the salt is text, and taken as it
// stands.
func parsePBKDF2(text string) (*Parsed, error) {
	var digest string
	var iterations uint32
	var salt, key []byte
	var err1, err2 error
	if m := djangoPBKDF2.FindStringSubmatch(text); m != nil {
		digest, iterations, salt = m[1], parseNumber(m[2]), []byte(m[3])
		key, err1 = base64.StdEncoding.Strict().DecodeString(m[4])
	} else if m := werkzeugPBKDF2.FindStringSubmatch(text); m != nil {
		digest, iterations, salt = m[1], parseNumber(m[2]), []byte(m[3])
		key, err1 = hex.DecodeString(m[4])
	} else if m := passlibPBKDF2.FindStringSubmatch(text); m != nil {
		digest, iterations = strings.TrimPrefix(m[1], "-"), parseNumber(m[2])
		if digest == "" {
			digest = "sha1"
		}
		salt, err1 = passlibDots.DecodeString(m[3])
		key, err2 = passlibDots.DecodeString(m[4])
	} else {
		return nil, errors.New("is no PBKDF2 hash of the form pbkdf2_sha256$<iterations>$<salt>$<base64>, pbkdf2:sha256:<iterations>$<salt>$<hex> or $pbkdf2-sha256$<iterations>$<salt>$<base64>")
	}
	newHash := pbkdf2Digests[digest]
	switch {
	case err1 != nil || err2 != nil:
		return nil, errors.New("has a salt or hash that is not properly encoded")
	case iterations < minIterations || iterations > maxIterations:
		return nil, fmt.Errorf("asks for more or less work than is allowed: %d to %d iterations of PBKDF2", minIterations, maxIterations)
	case len(key) < minTag || len(key) > newHash().Size() || len(salt) > maxDecoded:
		return nil, fmt.Errorf("needs a salt of at most %d bytes and a hash of %d to %d bytes", maxDecoded, minTag, newHash().Size())
	}
	return &Parsed{
		cost:     Cost{kind: "pbkdf2-" + digest, rounds: iterations, salt: len(salt), tag: len(key)},
		outdated: true,
		check: func(password string) bool {
			made, err := pbkdf2.Key(newHash, password, salt, int(iterations), len(key))
			return err == nil && secret.Equal(key, made) && !endsInvisibly(password)
		},
	}, nil
}

// parseScrypt reads the forms of Django, Werkzeug (Flask) and passlib.
func parseScrypt(text string) (*Parsed, error) {
	var n, r, p uint32
	var salt, key []byte
	var err1, err2 error
	if m := djangoScrypt.FindStringSubmatch(text); m != nil {
		salt, n, r, p = []byte(m[1]), parseNumber(m[2]), parseNumber(m[3]), parseNumber(m[4])
		key, err1 = base64.StdEncoding.Strict().DecodeString(m[5])
	} else if m := werkzeugScrypt.FindStringSubmatch(text); m != nil {
		n, r, p, salt = parseNumber(m[1]), parseNumber(m[2]), parseNumber(m[3]), []byte(m[4])
		key, err1 = hex.DecodeString(m[5])
	} else if m := passlibScrypt.FindStringSubmatch(text); m != nil {
		n, r, p = uint32(1)<<min(parseNumber(m[1]), maxScrypt+1), parseNumber(m[2]), parseNumber(m[3])
		salt, err1 = base64.RawStdEncoding.Strict().DecodeString(m[4])
		key, err2 = base64.RawStdEncoding.Strict().DecodeString(m[5])
	} else {
		return nil, errors.New("is no scrypt hash of the form scrypt:<N>:<r>:<p>$<salt>$<hex>, scrypt$<salt>$<N>$<r>$<p>$<base64> or $scrypt$ln=...,r=...,p=...$<salt>$<base64>")
	}
	switch {
	case err1 != nil || err2 != nil:
		return nil, errors.New("has a salt or hash that is not properly encoded")
	case n&(n-1) != 0:
		return nil, errors.New("has an N that is no power of two")
	case n < 1<<minScrypt || n > 1<<maxScrypt || uint64(n)*uint64(r) > maxScryptMem || uint64(n)*uint64(r)*uint64(p) > maxScryptWork:
		return nil, fmt.Errorf("asks for more or less work than is allowed: N from 2^%d to 2^%d, at most %d for N times r, and %d for N times r times p",
			minScrypt, maxScrypt, maxScryptMem, maxScryptWork)
	case len(key) < minTag || len(key) > maxDecoded || len(salt) > maxDecoded:
		return nil, fmt.Errorf("needs a salt of at most %d bytes and a hash of %d to %d bytes", maxDecoded, minTag, maxDecoded)
	}
	return &Parsed{
		cost:     Cost{kind: "scrypt", memory: r, rounds: n, threads: p, salt: len(salt), tag: len(key)},
		outdated: true,
		check: func(password string) bool {
			made, err := scrypt.Key([]byte(password), salt, int(n), int(r), int(p), len(key))
			return err == nil && secret.Equal(key, made) && !endsInvisibly(password)
		},
	}, nil
}

// endsInvisibly reports whether HMAC, on which both forms are built, takes the password for a shorter one: it fills keys
// up with zeros.
func endsInvisibly(password string) bool { return strings.HasSuffix(password, "\x00") }

// formatPBKDF2 writes the form of passlib.
func (c Cost) formatPBKDF2(salt, key []byte) string {
	digest := strings.TrimPrefix(strings.TrimPrefix(c.kind, "pbkdf2"), "-sha1")
	return fmt.Sprintf("$pbkdf2%s$%d$%s$%s", digest, c.rounds, passlibDots.EncodeToString(salt), passlibDots.EncodeToString(key))
}

// formatScrypt writes the form of passlib.
func (c Cost) formatScrypt(salt, key []byte) string {
	log := 0
	for c.rounds>>(log+1) > 0 {
		log++
	}
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$scrypt$ln=%d,r=%d,p=%d$%s$%s", log, c.memory, c.threads, b64.EncodeToString(salt), b64.EncodeToString(key))
}
