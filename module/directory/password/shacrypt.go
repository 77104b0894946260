package password

import (
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"regexp"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Bounds of sha-crypt's rounds (Ulrich Drepper, "Unix crypt using SHA-256 and SHA-512"). The
// upper bound prevents denial of service: a few seconds for the longest password.
const (
	minSHARounds     = 1000
	maxSHARounds     = 1_000_000
	defaultSHARounds = 5000
)

var shaCryptForm = regexp.MustCompile(`^\$([56])\$(?:rounds=([1-9][0-9]{0,8})\$)?([^$]{0,16})\$([./A-Za-z0-9]{43,86})$`)

func parseSHACrypt(text string) (*Parsed, error) {
	m := shaCryptForm.FindStringSubmatch(text)
	sum := sha256Crypt
	if m != nil && m[1] == "6" {
		sum = sha512Crypt
	}
	if m == nil || len(m[4]) != sum.length || !saltLetters(m[3]) {
		return nil, errors.New("is no sha-crypt hash of the form $6$<salt>$<86 characters> or $5$<salt>$<43 characters>")
	}
	rounds := uint32(defaultSHARounds)
	if m[2] != "" {
		rounds = parseNumber(m[2])
	}
	if rounds < minSHARounds || rounds > maxSHARounds {
		return nil, fmt.Errorf("asks for more or less work than is allowed: %d to %d rounds", minSHARounds, maxSHARounds)
	}
	salt, stored := m[3], m[4]
	return &Parsed{
		cost:     Cost{kind: sum.kind, rounds: rounds, salt: len(salt)},
		outdated: true,
		check: func(password string) bool {
			return secret.Equal([]byte(stored), []byte(sum.crypt([]byte(password), []byte(salt), int(rounds))))
		},
	}, nil
}

type shaCrypt struct {
	kind   string
	new    func() hash.Hash
	length int // of the text
	third  int // of the digest's bytes, which are encoded in threes
	step   int // from the first byte of one group of three to that of the next
	rest   []int
}

var (
	sha256Crypt = shaCrypt{"sha256-crypt", sha256.New, 43, 10, 21, []int{31, 30}}
	sha512Crypt = shaCrypt{"sha512-crypt", sha512.New, 86, 21, 22, []int{63}}
)

func (s shaCrypt) crypt(pass, salt []byte, rounds int) string {
	h := s.new()
	digest := func(write func()) []byte {
		h.Reset()
		write()
		return h.Sum(nil)
	}
	alternate := digest(func() { h.Write(pass); h.Write(salt); h.Write(pass) })
	sum := digest(func() {
		h.Write(pass)
		h.Write(salt)
		h.Write(repeatBytes(alternate, len(pass)))
		for n := len(pass); n > 0; n >>= 1 {
			if n&1 == 1 {
				h.Write(alternate)
			} else {
				h.Write(pass)
			}
		}
	})
	p := repeatBytes(digest(func() {
		for range pass {
			h.Write(pass)
		}
	}), len(pass))
	q := repeatBytes(digest(func() {
		for range 16 + int(sum[0]) {
			h.Write(salt)
		}
	}), len(salt))
	return s.encode(cryptRounds(h, sum, p, q, rounds))
}

// encode encodes the digest's bytes in the order of the last step of the specification.
func (s shaCrypt) encode(sum []byte) string {
	var out strings.Builder
	write := func(from ...int) {
		v := uint32(0)
		for _, i := range from {
			v = v<<8 | uint32(sum[i])
		}
		out.WriteString(digits64(v, (len(from)*8+5)/6))
	}
	all := 3 * s.third
	for i := range s.third {
		first := i * s.step % all
		write(first, (first+s.third)%all, (first+2*s.third)%all)
	}
	write(s.rest...)
	return out.String()
}
