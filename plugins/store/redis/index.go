package redis

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// The children of a parent are one sorted set, which Redis stores as a listpack while they
// are few. An entry is the name of a child and two times, see lua/index.lua. Names sort as the IDs do within their form,
// and none begins with another one.
const (
	digestForm = "h" // an ID that is a digest in hex: its bytes
	textForm   = "t" // any other: the ID and a zero

	digestDigits = 64
	timesLength  = 10

	// settled is how old an entry is that may be forgotten; lua/index.lua has it too.
	settled = 10 * time.Minute
)

// noZeros keeps the zero that ends a name out of it.
var (
	noZeros   = strings.NewReplacer("\x00", "\x01\x01", "\x01", "\x01\x02")
	withZeros = strings.NewReplacer("\x01\x01", "\x00", "\x01\x02", "\x01")
)

// behindTimes sorts behind all times that can follow a name.
var behindTimes = strings.Repeat("\xff", timesLength+1)

func isDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

func entryName(id string) string {
	if len(id) == digestDigits && !strings.ContainsFunc(id, func(r rune) bool { return r > 'f' || !isDigit(byte(r)) }) { //nolint:gosec // at most 'f'
		return digestForm + digestBytes(id)
	}
	return textForm + noZeros.Replace(id) + "\x00"
}

// digestBytes returns the bytes of digits that were checked.
func digestBytes(digits string) string {
	raw, _ := hex.DecodeString(digits)
	return string(raw)
}

// entryID returns the ID of the child that an entry is for.
func entryID(entry string) (id string, err error) {
	if len(entry) < len(textForm)+1+timesLength {
		return "", errDamaged
	}
	form, name := entry[:1], entry[1:len(entry)-timesLength]
	switch {
	case form == digestForm:
		return hex.EncodeToString([]byte(name)), nil
	case form == textForm && name[len(name)-1] == 0:
		return withZeros.Replace(name[:len(name)-1]), nil
	}
	return "", errDamaged
}

// isYoung reports whether the child of an entry was noted lately.
func isYoung(entry string, now int64) bool {
	noted := append(make([]byte, 3), entry[len(entry)-timesLength/2:]...)
	return int64(binary.BigEndian.Uint64(noted))*1000 > now-settled.Milliseconds() //nolint:gosec // five bytes
}

// textsBehind returns the lower bound, as ZRANGEBYLEX takes it, of the entries in text form whose IDs sort after the given
// one.
func textsBehind(after string) string {
	if after == "" {
		return "[" + textForm
	}
	return "(" + textForm + noZeros.Replace(after) + "\x00" + behindTimes
}

// digestsBehind is textsBehind for entries in digest form. The given ID may be any text.
func digestsBehind(after string) string {
	first := func(digits, fill string) string {
		return digestForm + digestBytes(digits+strings.Repeat(fill, digestDigits-len(digits)))
	}
	head := after[:min(len(after), digestDigits)]
	for i := range len(head) {
		switch c := head[i]; {
		case isDigit(c):
		case c < '0':
			return "[" + first(head[:i], "0")
		case c < 'a':
			return "[" + first(head[:i]+"a", "0")
		default:
			return "(" + first(head[:i], "f") + behindTimes
		}
	}
	if len(head) < digestDigits {
		return "[" + first(head, "0")
	}
	return "(" + first(head, "") + behindTimes
}

// listChildren reads a page of the index. Those of young were noted lately.
func (b *Backend) listChildren(ctx context.Context, kind store.Kind, parent, after string, n int) (ids []string, young map[string]bool, err error) {
	keys, plain := b.indexKeys(kind, parent), "-"
	if after != "" {
		plain = "(" + after
	}
	err = b.boundedCall(ctx, reads, func(ctx context.Context) error {
		reply, err := scriptList.Run(ctx, b.client, keys[:2], digestsBehind(after), textsBehind(after), plain, n)
		if err != nil {
			return err
		}
		forms, err := replyAs[[]any](reply)
		if err != nil || len(forms) != 3 {
			return errors.Join(err, errReply)
		}
		ids, young = nil, make(map[string]bool)
		for i, form := range forms {
			entries, err := textList(form)
			if err != nil {
				return err
			}
			for _, entry := range entries {
				id := entry
				if i < 2 { // the third is of an earlier release, which wrote IDs
					if id, err = entryID(entry); err != nil {
						return err
					}
					young[id] = isYoung(entry, b.approximateNow())
				}
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		ids = ids[:min(n, len(ids))]
		return nil
	})
	return ids, young, err
}

// noteChild writes the entry of a child that is about to be written, and returns the time.
func (b *Backend) noteChild(ctx context.Context, k store.Key, parent string, until int64) (string, error) {
	reply, err := scriptNote.RunAndWait(ctx, b.client, b.wait, b.indexKeys(k.Kind, parent)[:1], b.scriptClock(), entryName(k.ID), until)
	if err != nil {
		return "", err
	}
	return replyAs[string](reply)
}

// forgetChildren removes entries of children that have no record.
func (b *Backend) forgetChildren(ctx context.Context, kind store.Kind, parent string, ids ...string) error {
	args := []any{b.scriptClock()}
	for _, id := range ids {
		args = append(args, entryName(id), id)
	}
	_, err := scriptForget.Run(ctx, b.client, b.indexKeys(kind, parent), args...)
	return err
}
