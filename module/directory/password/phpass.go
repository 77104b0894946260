package password

import (
	"crypto/md5"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// itoa64 is the alphabet of crypt(3), phpass and others, in the order of its values.
const itoa64 = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// The binary logarithm of phpass's rounds. The upper bound prevents denial of service; WordPress
// and phpBB write 11 to 13, Drupal 15.
const minPhpass, maxPhpass = 7, 20

// parsePhpass reads the portable hashes of Solar Designer's phpass, $P$ and phpBB's
// $H$ over MD5, and Drupal 7's $S$ over SHA-512, which keeps 55 characters.
func parsePhpass(text string) (*Parsed, error) {
	newHash, kind, length := md5.New, "phpass", 34
	if strings.HasPrefix(text, "$S$") {
		newHash, kind, length = sha512.New, "drupal", 55
	}
	if len(text) != length || !alphabetic(text[3:]) {
		return nil, errors.New("is no phpass hash of the form $P$<31 characters> or $S$<52 characters>")
	}
	log := strings.IndexByte(itoa64, text[3])
	if log < minPhpass || log > maxPhpass {
		return nil, fmt.Errorf("asks for more or less work than is allowed: 2 to the power of %d to %d rounds", minPhpass, maxPhpass)
	}
	salt, stored := text[4:12], []byte(text[12:])
	return &Parsed{
		cost:     Cost{kind: kind, rounds: uint32(log)},
		outdated: true,
		check: func(password string) bool {
			made := littleEndian64(phpassRounds(newHash(), salt, password, 1<<log))
			return secret.Equal(stored, []byte(made[:len(stored)]))
		},
	}, nil
}

func phpassRounds(h hash.Hash, salt, password string, rounds int) []byte {
	h.Write([]byte(salt))
	h.Write([]byte(password))
	sum := h.Sum(nil)
	pass := []byte(password)
	for range rounds {
		h.Reset()
		h.Write(sum)
		h.Write(pass)
		sum = h.Sum(sum[:0])
	}
	return sum
}

// littleEndian64 encodes six bits per character, starting with the lowest bits of each three
// bytes.
func littleEndian64(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		n := min(len(b), 3)
		v := uint32(0)
		for i := range n {
			v |= uint32(b[i]) << (8 * i)
		}
		out.WriteString(digits64(v, n+1))
		b = b[n:]
	}
	return out.String()
}

// digits64 encodes v in n characters, the lowest six bits first.
func digits64(v uint32, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = itoa64[v&0x3f]
		v >>= 6
	}
	return string(out)
}

func alphabetic(s string) bool {
	return strings.Trim(s, itoa64) == ""
}
