package password

import (
	"cmp"
	"fmt"
	"strings"
)

// Cost is everything that the duration of a check depends on. It is comparable: two hashes of
// the same cost take the same time.
type Cost struct {
	kind   string // the form, such as argon2id or bcrypt
	memory uint32 // KiB, of Argon2; r of scrypt
	// rounds are the passes of Argon2, the rounds of sha-crypt, the iterations of PBKDF2, N of scrypt, and the binary logarithm of the rounds of bcrypt and
	// phpass.
	rounds    uint32
	threads   uint32
	salt, tag int // bytes, where they matter
}

// Quick reports whether a check takes negligible time: nobody can tell whether it was made, and
// it hardly slows down a thief of the hash.
func (c Cost) Quick() bool { return c.rounds == 0 }

// Dummy returns a hash whose check costs c, for a sign-in without a user. It is all zeros: no password is known to
// produce that, and the caller refuses whatever the comparison says. For a quick cost it is a hash of the cost
// [Usual].
func (c Cost) Dummy() string {
	zeros := func(n int) string { return strings.Repeat(".", n) }
	switch c.kind {
	case "argon2id", "argon2i":
		return c.formatPHC(make([]byte, c.salt), make([]byte, c.tag))
	case "bcrypt":
		return fmt.Sprintf("$2y$%02d$%s", c.rounds, zeros(22+31))
	case "wordpress":
		return fmt.Sprintf("$wp$2y$%02d$%s", c.rounds, zeros(22+31))
	case "bcrypt-sha256":
		return fmt.Sprintf("bcrypt_sha256$$2b$%02d$%s", c.rounds, zeros(22+31))
	case "phpass":
		return "$P$" + string(itoa64[c.rounds]) + zeros(8+22)
	case "drupal":
		return "$S$" + string(itoa64[c.rounds]) + zeros(8+43)
	case "md5-crypt":
		return "$1$" + zeros(c.salt) + "$" + zeros(22)
	case "sha256-crypt":
		return fmt.Sprintf("$5$rounds=%d$%s$%s", c.rounds, zeros(c.salt), zeros(43))
	case "pbkdf2-sha1", "pbkdf2-sha256", "pbkdf2-sha512":
		return c.formatPBKDF2(make([]byte, c.salt), make([]byte, c.tag))
	case "scrypt":
		return c.formatScrypt(make([]byte, c.salt), make([]byte, c.tag))
	case "sha512-crypt":
		return fmt.Sprintf("$6$rounds=%d$%s$%s", c.rounds, zeros(c.salt), zeros(86))
	}
	return usual.Dummy()
}

// MostUsed returns the most frequent cost, the higher one in a tie, and the number of hashes
// with other costs. Without hashes it returns [Usual].
func MostUsed(count map[Cost]int) (most Cost, others int) {
	total := 0
	for c, n := range count {
		total += n
		if m := count[most]; n > m || n == m && compareCosts(c, most) > 0 {
			most = c
		}
	}
	if total == 0 {
		return usual, 0
	}
	return most, total - count[most]
}

// lanes orders costs of the same work otherwise: Argon2 does it in parallel, and scrypt does it once more for each.
func lanes(c Cost) int64 {
	if c.kind == "scrypt" {
		return int64(c.threads)
	}
	return -int64(c.threads)
}

// compareCosts orders the costs of one kind by the work they require.
func compareCosts(p, q Cost) int {
	return cmp.Or(
		cmp.Compare(p.kind, q.kind),
		cmp.Compare(uint64(max(p.memory, 1))*uint64(p.rounds), uint64(max(q.memory, 1))*uint64(q.rounds)),
		cmp.Compare(lanes(p), lanes(q)),
		cmp.Compare(p.tag, q.tag),
		cmp.Compare(p.salt, q.salt),
		cmp.Compare(p.rounds, q.rounds),
	)
}
