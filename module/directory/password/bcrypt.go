package password

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

const (
	// maxBcryptCost bounds a check to about four seconds.
	maxBcryptCost = 16
	// maxBcrypt is the number of bytes of a password that bcrypt reads.
	maxBcrypt = 72
	// newBcryptCost is the cost of new hashes, goodBcryptCost the lowest cost that need not be
	// replaced.
	newBcryptCost, goodBcryptCost = 12, 10

	wordpressPrefix    = "$wp$2"
	djangoSHA256Prefix = "bcrypt_sha256$$2"
)

var bcryptForm = regexp.MustCompile(`^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$`)

// parseBcrypt reads a bcrypt hash. The result matches no password that bcrypt cannot distinguish
// from another one: bcrypt reads only the first 72 bytes, and repeats a shorter password with a
// NUL in between, so that "a" and "a\x00a" are the same to it.
func parseBcrypt(hash string) (*Parsed, error) {
	cost, err := bcryptCost(hash)
	if err != nil {
		return nil, err
	}
	stored := []byte(hash)
	return &Parsed{
		cost:     Cost{kind: "bcrypt", rounds: cost},
		outdated: true,
		check: func(password string) bool {
			same := bcrypt.CompareHashAndPassword(stored, []byte(truncatePassword(password))) == nil
			return same && bcryptable(password)
		},
	}, nil
}

// parseWordPress reads the form that WordPress writes since 6.8: bcrypt over a digest of the
// password, so that long passwords differ, too.
func parseWordPress(hash string) (*Parsed, error) {
	stored := strings.TrimPrefix(hash, "$wp")
	cost, err := bcryptCost(stored)
	if err != nil {
		return nil, err
	}
	return &Parsed{
		cost:     Cost{kind: "wordpress", rounds: cost},
		outdated: true,
		check: func(password string) bool {
			mac := hmac.New(sha512.New384, []byte("wp-sha384"))
			mac.Write([]byte(password))
			digest := base64.StdEncoding.EncodeToString(mac.Sum(nil))
			return bcrypt.CompareHashAndPassword([]byte(stored), []byte(digest)) == nil
		},
	}, nil
}

// parseDjangoBcrypt reads the form of Django's BCryptSHA256PasswordHasher: bcrypt over the hexadecimal SHA-256 of the
// password, so that long passwords differ, too.
func parseDjangoBcrypt(hash string) (*Parsed, error) {
	stored := strings.TrimPrefix(hash, "bcrypt_sha256$")
	cost, err := bcryptCost(stored)
	if err != nil {
		return nil, err
	}
	return &Parsed{
		cost:     Cost{kind: "bcrypt-sha256", rounds: cost},
		outdated: true,
		check: func(password string) bool {
			digest := sha256.Sum256([]byte(password))
			return bcrypt.CompareHashAndPassword([]byte(stored), []byte(hex.EncodeToString(digest[:]))) == nil
		},
	}, nil
}

func bcryptCost(hash string) (uint32, error) {
	m := bcryptForm.FindStringSubmatch(hash)
	if m == nil {
		return 0, errors.New("is no bcrypt hash of the form $2y$<cost>$<53 characters>")
	}
	cost := parseNumber(m[1])
	if cost < uint32(bcrypt.MinCost) || cost > maxBcryptCost {
		return 0, fmt.Errorf("asks for more or less work than is allowed: a bcrypt cost from %d to %d", bcrypt.MinCost, maxBcryptCost)
	}
	return cost, nil
}

// HashBcrypt returns a bcrypt hash in the form that PHP's password_verify and nearly every other program can read. ok
// is false for a password that bcrypt would not use completely: one of more than 72 bytes, or with a NUL.
func HashBcrypt(password string) (hash string, ok bool) {
	if !bcryptable(password) {
		return "", false
	}
	made, err := bcrypt.GenerateFromPassword([]byte(password), newBcryptCost)
	if err != nil {
		return "", false
	}
	// The library writes $2a$ where others write $2y$ (PHP) or $2b$.
	return "$2y$" + strings.TrimPrefix(string(made), "$2a$"), true
}

// GoodBcrypt reports whether this is a bcrypt hash that need not be replaced by a new bcrypt hash.
func (p *Parsed) GoodBcrypt() bool { return p.cost.kind == "bcrypt" && p.cost.rounds >= goodBcryptCost }

func bcryptable(password string) bool {
	return len(password) <= maxBcrypt && !strings.Contains(password, "\x00")
}

func truncatePassword(password string) string { return password[:min(len(password), maxBcrypt)] }
