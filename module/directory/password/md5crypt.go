package password

import (
	"crypto/md5"
	"errors"
	"hash"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// md5CryptRounds is fixed by the format (Poul-Henning Kamp, FreeBSD 1994).
const md5CryptRounds = 1000

// parseMD5Crypt reads $1$<salt>$<22 characters> of crypt(3), and the same with Apache's magic $apr1$.
func parseMD5Crypt(text string) (*Parsed, error) {
	magic := "$1$"
	if strings.HasPrefix(text, "$apr1$") {
		magic = "$apr1$"
	}
	salt, stored, ok := strings.Cut(text[len(magic):], "$")
	if !ok || len(salt) > 8 || len(stored) != 22 || !saltLetters(salt) || !alphabetic(stored) {
		return nil, errors.New("is no md5-crypt hash of the form $1$<salt>$<22 characters>")
	}
	return &Parsed{
		cost:     Cost{kind: "md5-crypt", rounds: md5CryptRounds, salt: len(salt)},
		outdated: true,
		check: func(password string) bool {
			return secret.Equal([]byte(stored), []byte(md5Crypt(password, salt, magic)))
		},
	}, nil
}

func md5Crypt(password, salt, magic string) string {
	pass := []byte(password)
	h := md5.New()
	h.Write([]byte(password + salt + password))
	alternate := h.Sum(nil)

	h.Reset()
	h.Write([]byte(password + magic + salt))
	h.Write(repeatBytes(alternate, len(pass)))
	for n := len(pass); n > 0; n >>= 1 {
		if n&1 == 1 {
			h.Write([]byte{0})
		} else {
			h.Write(pass[:1])
		}
	}
	sum := cryptRounds(h, h.Sum(nil), pass, []byte(salt), md5CryptRounds)
	var out strings.Builder
	for i := range 5 {
		last := i + 12
		if i == 4 {
			last = 5
		}
		out.WriteString(digits64(uint32(sum[i])<<16|uint32(sum[i+6])<<8|uint32(sum[last]), 4))
	}
	out.WriteString(digits64(uint32(sum[11]), 2))
	return out.String()
}

// cryptRounds runs the rounds of md5-crypt, which sha-crypt shares.
func cryptRounds(h hash.Hash, sum, pass, salt []byte, rounds int) []byte {
	for i := range rounds {
		h.Reset()
		if i&1 == 1 {
			h.Write(pass)
		} else {
			h.Write(sum)
		}
		if i%3 != 0 {
			h.Write(salt)
		}
		if i%7 != 0 {
			h.Write(pass)
		}
		if i&1 == 1 {
			h.Write(sum)
		} else {
			h.Write(pass)
		}
		sum = h.Sum(sum[:0])
	}
	return sum
}

// repeatBytes repeats b until it has n bytes.
func repeatBytes(b []byte, n int) []byte {
	out := make([]byte, n)
	for i := 0; i < n; i += copy(out[i:], b) {
	}
	return out
}

// saltLetters reports whether a salt consists of printable characters that do not end it.
func saltLetters(salt string) bool {
	return !strings.ContainsFunc(salt, func(r rune) bool { return r <= ' ' || r > '~' || r == '$' || r == ':' })
}
