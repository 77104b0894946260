package redis

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// headLength is that of the head of a record; lua/head.lua has its fields.
const headLength = 53

// maxMillis is the latest moment a number of Lua holds exactly, in the year 287396.
const maxMillis = 1<<53 - 1

var (
	errDamaged = errors.New("a record is damaged")
	errNewer   = errors.New("a record was written by a newer gatehouse")
	errTooLong = errors.New("store redis: key or value is too long")
)

// escape keeps the kind from ending where it should not: names of keys have colons, and a brace decides the slot.
var escape = strings.NewReplacer("%", "%25", ":", "%3A", "{", "%7B", "}", "%7D")

// layout names the keys.
//
//	<prefix>r:<kind>:<id>                   a record
//	<prefix>{p:<kind>:<parent>}                  its children, see lua/index.lua
//	<prefix>{p:<kind>:<parent>}all|ends|fresh    those that an earlier release noted
//	<prefix>{w:<kind>}...                   everything of a watched kind, in one slot
type layout struct {
	prefix  string
	watched map[store.Kind]bool
}

func (l layout) slotPrefix(kind store.Kind) string {
	return l.prefix + "{w:" + escape.Replace(string(kind)) + "}"
}

func (l layout) recordKey(k store.Key) string {
	if l.watched[k.Kind] {
		return l.slotPrefix(k.Kind) + "r:" + k.ID
	}
	return l.prefix + "r:" + escape.Replace(string(k.Kind)) + ":" + k.ID
}

// indexKeys names the index of a parent, and the keys all, ends and fresh that earlier releases had for it: every child,
// when those that expire may be forgotten, and those noted lately.
func (l layout) indexKeys(kind store.Kind, parent string) []string {
	base := l.prefix + "{p:" + escape.Replace(string(kind)) + ":" + parent + "}"
	if l.watched[kind] {
		base = l.slotPrefix(kind) + "p:" + parent + ":"
	}
	return []string{base, base + "all", base + "ends", base + "fresh"}
}

// feedKeys names the keys feed, ends, history and sequence of a watched kind.
func (l layout) feedKeys(kind store.Kind) []string {
	base := l.slotPrefix(kind)
	return []string{base + "feed", base + "ends", base + "history", base + "sequence"}
}

// notifyChannel is where the bell of a watched kind rings.
func (l layout) notifyChannel(kind store.Kind) string { return l.slotPrefix(kind) + "bell" }

// probeKey is written to see whether writing works.
func (l layout) probeKey() string { return l.prefix + "probe" }

// toMillis rounds an expiry up to the stored precision. 0 is never.
func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return min(max(1, ms), maxMillis) // before 1970 is expired as well
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// indexExpiry is until when the index is to know a child that expires then: longer, so that
// one which is prolonged again and again tells the index seldom.
func indexExpiry(expires, now int64) int64 {
	if expires == 0 {
		return 0
	}
	return min(expires+max((expires-now)/4, time.Hour.Milliseconds()), maxMillis)
}

func padDecimal(n int64) string  { return fmt.Sprintf("%016d", n) }
func hexVersion(v uint64) string { return fmt.Sprintf("%016x", v) }
func tooLong(k store.Key) bool {
	return len(k.ID) > store.MaxKeyLength || len(k.Kind) > store.MaxKeyLength
}
func encodeHead(r store.Record, horizon int64) string {
	return "1" + hexVersion(r.Version) + padDecimal(toMillis(r.Expires)) + padDecimal(horizon) + fmt.Sprintf("%04x", len(r.Parent)) + r.Parent
}

// decodeRecord reads a stored record.
func decodeRecord(key store.Key, raw string) (store.Record, error) {
	if raw != "" && raw[0] != '1' {
		return store.Record{}, errNewer
	}
	if len(raw) < headLength {
		return store.Record{}, errDamaged
	}
	version, err1 := strconv.ParseUint(raw[1:17], 16, 64)
	expires, err2 := strconv.ParseInt(raw[17:33], 10, 64)
	parent, err3 := strconv.ParseUint(raw[49:53], 16, 16)
	end := headLength + int(parent) //nolint:gosec // 16 bits
	if err1 != nil || err2 != nil || err3 != nil || len(raw) < end || version == 0 {
		return store.Record{}, errDamaged
	}
	return store.Record{
		Key: key, Parent: raw[headLength:end], Value: []byte(raw[end:]), Version: version, Expires: fromMillis(expires),
	}, nil
}
