package store

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

var errPacked = errors.New("the packed form is damaged")

// packer writes a record in its packed form: one field after another, without names. Numbers are varints.
type packer struct{ b []byte }

// How a text is packed. The lowest two bits of its length say it.
const (
	plainText  = iota // as it is
	hexText           // the bytes that it is the lower-case hex form of: a digest
	base64Text        // the bytes that it is the base64url form of: an ID
	userText          // the same, behind userPrefix
)

const (
	userPrefix = "u-" // of the IDs that the store gives users
	// minEncoded is the least length of a text that is packed as bytes.
	minEncoded = 16
)

func (p *packer) number(n uint64) { p.b = binary.AppendUvarint(p.b, n) }
func (p *packer) signed(n int64)  { p.b = binary.AppendVarint(p.b, n) }

func (p *packer) text(s string) {
	form, raw := packText(s)
	p.number(uint64(len(raw))<<2 | form)
	p.b = append(p.b, raw...)
}

func (p *packer) texts(list []string) {
	p.number(uint64(len(list)))
	for _, s := range list {
		p.text(s)
	}
}

// packText returns the shortest form of a text from which it comes back as it was.
func packText(s string) (form uint64, raw []byte) {
	if len(s) < minEncoded {
		return plainText, []byte(s)
	}
	if raw, err := hex.DecodeString(s); err == nil && hex.EncodeToString(raw) == s {
		return hexText, raw
	}
	form, text := uint64(base64Text), s
	if s[:len(userPrefix)] == userPrefix {
		form, text = userText, s[len(userPrefix):]
	}
	if raw, err := base64.RawURLEncoding.DecodeString(text); err == nil && base64.RawURLEncoding.EncodeToString(raw) == text {
		return form, raw
	}
	return plainText, []byte(s)
}

// How a time is packed. The lowest two bits of its distance from another one, in seconds, say it.
const (
	sameFraction  = iota // of a second, as the other one's
	wholeSecond          // no fraction
	otherFraction        // the nanoseconds follow
	zeroTime             // no distance: the zero time
)

// moment writes a time by its distance from another one, to the nanosecond.
func (p *packer) moment(t, base time.Time) {
	distance := t.Unix() - base.Unix()
	zigzag := uint64(distance<<1^distance>>63) << 2 //nolint:gosec // bits, not a number
	switch ns := t.Nanosecond(); {
	case t.IsZero():
		p.number(zeroTime)
	case ns == base.Nanosecond():
		p.number(zigzag) // sameFraction
	case ns == 0:
		p.number(zigzag | wholeSecond)
	default:
		p.number(zigzag | otherFraction)
		p.number(uint64(ns)) //nolint:gosec // never negative
	}
}

// unpacker reads what a packer wrote. After a fault everything it reads is zero.
type unpacker struct {
	b   []byte
	err error
}

func (u *unpacker) fail() {
	u.b, u.err = nil, errPacked
}

func (u *unpacker) number() uint64 {
	n, size := binary.Uvarint(u.b)
	if size <= 0 {
		u.fail()
		return 0
	}
	u.b = u.b[size:]
	return n
}

func (u *unpacker) signed() int64 {
	n, size := binary.Varint(u.b)
	if size <= 0 {
		u.fail()
		return 0
	}
	u.b = u.b[size:]
	return n
}

func (u *unpacker) text() string {
	n := u.number()
	form, length := n&3, n>>2
	if length > uint64(len(u.b)) {
		u.fail()
		return ""
	}
	raw := u.b[:length]
	u.b = u.b[length:]
	switch form {
	case hexText:
		return hex.EncodeToString(raw)
	case base64Text:
		return base64.RawURLEncoding.EncodeToString(raw)
	case userText:
		return userPrefix + base64.RawURLEncoding.EncodeToString(raw)
	}
	return string(raw)
}

// texts returns nil for an empty list.
func (u *unpacker) texts() (list []string) {
	n := u.number()
	if n > uint64(len(u.b)) { // each has a byte at least
		u.fail()
	}
	for ; n > 0 && u.err == nil; n-- {
		list = append(list, u.text())
	}
	return list
}

func (u *unpacker) moment(base time.Time) time.Time {
	n := u.number()
	if u.err != nil || n == zeroTime {
		return time.Time{}
	}
	zigzag := n >> 2
	seconds := base.Unix() + (int64(zigzag>>1) ^ -int64(zigzag&1)) //nolint:gosec // bits, not a number
	ns := 0
	switch n & 3 {
	case sameFraction:
		ns = base.Nanosecond()
	case otherFraction:
		ns = int(u.number() % uint64(time.Second)) //nolint:gosec // below a second
	}
	return time.Unix(seconds, int64(ns)).UTC()
}
