package password

import (
	"cmp"
	"fmt"
	"strings"
)

// Cost is everything that the time of a check depends on. It is comparable: two hashes
// of the same cost take the same time.
type Cost struct {
	kind   string // the form, such as argon2id or bcrypt
	memory uint32 // KiB, of Argon2
	// rounds are passes of Argon2, rounds of sha-crypt, and the binary logarithm of the rounds of bcrypt and phpass.
	rounds    uint32
	threads   uint32
	salt, tag int // bytes, where they matter
}

// Quick reports whether a check takes no time worth speaking of, so that its absence
// could not be told from its presence, and a thief of the hash is hardly slowed down.
func (c Cost) Quick() bool { return c.rounds == 0 }

// Dummy returns a hash that costs what c costs, for a sign-in without a user. It is all zeros: no password is known
// to give that, and the caller refuses whatever the comparison says. A quick cost has none: it is that of [Usual].
func (c Cost) Dummy() string {
	zeros := func(n int) string { return strings.Repeat(".", n) }
	switch c.kind {
	case "argon2id", "argon2i":
		return c.formatPHC(make([]byte, c.salt), make([]byte, c.tag))
	case "bcrypt":
		return fmt.Sprintf("$2y$%02d$%s", c.rounds, zeros(22+31))
	case "wordpress":
		return fmt.Sprintf("$wp$2y$%02d$%s", c.rounds, zeros(22+31))
	case "phpass":
		return "$P$" + string(itoa64[c.rounds]) + zeros(8+22)
	case "drupal":
		return "$S$" + string(itoa64[c.rounds]) + zeros(8+43)
	case "md5-crypt":
		return "$1$" + zeros(c.salt) + "$" + zeros(22)
	case "sha256-crypt":
		return fmt.Sprintf("$5$rounds=%d$%s$%s", c.rounds, zeros(c.salt), zeros(43))
	case "sha512-crypt":
		return fmt.Sprintf("$6$rounds=%d$%s$%s", c.rounds, zeros(c.salt), zeros(86))
	}
	return usual.Dummy()
}

// MostUsed returns the cost that most hashes have, the greater of two that are equally
// many, and how many hashes have others. Without any it is [Usual].
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

// compareCosts orders costs by the work they ask for, within a kind.
func compareCosts(p, q Cost) int {
	return cmp.Or(
		cmp.Compare(p.kind, q.kind),
		cmp.Compare(uint64(max(p.memory, 1))*uint64(p.rounds), uint64(max(q.memory, 1))*uint64(q.rounds)),
		cmp.Compare(q.threads, p.threads),
		cmp.Compare(p.tag, q.tag),
		cmp.Compare(p.salt, q.salt),
		cmp.Compare(p.rounds, q.rounds),
	)
}
