package file

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"
)

// Bounds of a hash. The greatest are denial-of-service guards: one sign-in may take
// no more than 1 GiB of memory and some seconds, whoever wrote the file. The least
// are those of RFC 9106 section 3.1, with a tag that cannot be guessed.
const (
	maxMemory  = 1 << 20 // KiB
	maxTime    = 64
	minSalt    = 8
	minTag     = 16
	maxDecoded = 128 // bytes of salt, and of tag
)

// parameters is everything that a hash's time depends on.
type parameters struct {
	memory, time, threads uint32
	salt, tag             int
}

// usual is what Caddy's hasher makes unless told otherwise.
var usual = parameters{memory: 46 * 1024, time: 1, threads: 1, salt: 16, tag: 32}

// The groups are bounded, so that none overflows and nothing matches for long.
var phc = regexp.MustCompile(`^\$argon2id\$v=19\$m=([1-9][0-9]{0,8}),t=([1-9][0-9]{0,8}),p=([1-9][0-9]{0,2})\$([A-Za-z0-9+/]{1,255})\$([A-Za-z0-9+/]{1,255})$`)

// parametersOf checks a hash more strictly than the hasher does, which would panic
// on zero rounds and take any memory it is told to. Its errors never quote the hash.
func parametersOf(hash string) (parameters, error) {
	if strings.HasPrefix(hash, "$2") {
		return parameters{}, errors.New("is a bcrypt hash, an Argon2id one is needed: make it with `caddy gatehouse user hash`")
	}
	m := phc.FindStringSubmatch(hash)
	if m == nil {
		return parameters{}, errors.New("is no Argon2id hash of the form $argon2id$v=19$m=...,t=...,p=...$salt$hash: make it with `caddy gatehouse user hash`")
	}
	salt, errSalt := base64.RawStdEncoding.Strict().DecodeString(m[4])
	tag, errTag := base64.RawStdEncoding.Strict().DecodeString(m[5])
	if errSalt != nil || errTag != nil {
		return parameters{}, errors.New("has a salt or hash that is not in base64")
	}
	p := parameters{memory: number(m[1]), time: number(m[2]), threads: number(m[3]), salt: len(salt), tag: len(tag)}
	switch {
	case p.threads > 255 || p.memory < 8*p.threads:
		return parameters{}, errors.New("has p above 255, or m below 8 times p")
	case p.memory > maxMemory || p.time > maxTime:
		return parameters{}, fmt.Errorf("asks for more work than is allowed: at most m=%d (KiB) and t=%d", maxMemory, maxTime)
	case p.salt < minSalt || p.salt > maxDecoded || p.tag < minTag || p.tag > maxDecoded:
		return parameters{}, fmt.Errorf("needs a salt of %d to %d bytes and a hash of %d to %d", minSalt, maxDecoded, minTag, maxDecoded)
	}
	return p, nil
}

// number reads digits that phc has bounded.
func number(digits string) uint32 {
	n, _ := strconv.ParseUint(digits, 10, 32)
	return uint32(n)
}

// dummy returns a hash that costs what p costs. Its tag is all zero: no password is
// known to give that, and the caller refuses whatever the comparison says.
func (p parameters) dummy() string {
	zeros := func(n int) string { return base64.RawStdEncoding.EncodeToString(make([]byte, n)) }
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", p.memory, p.time, p.threads, zeros(p.salt), zeros(p.tag))
}

// compare orders parameters by the work they ask for.
func compare(p, q parameters) int {
	return cmp.Or(
		cmp.Compare(uint64(p.memory)*uint64(p.time), uint64(q.memory)*uint64(q.time)),
		cmp.Compare(q.threads, p.threads),
		cmp.Compare(p.tag, q.tag),
		cmp.Compare(p.salt, q.salt),
		cmp.Compare(p.time, q.time),
	)
}

// mostUsed returns the parameters that most hashes have, the costlier of two that
// are equally many, and how many hashes have others.
func mostUsed(count map[parameters]int) (most parameters, others int) {
	total := 0
	for p, n := range count {
		total += n
		if c := count[most]; n > c || n == c && compare(p, most) > 0 {
			most = p
		}
	}
	if total == 0 {
		return usual, 0
	}
	return most, total - count[most]
}

func matches(hash, password string) (bool, error) {
	return caddyauth.Argon2idHash{}.Compare([]byte(hash), []byte(password))
}
