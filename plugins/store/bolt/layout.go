package bolt

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// The buckets. Keys begin with framed names, so that no kind or parent can reach
// into another, and end with the ID, so that they are in the order of the IDs.
var (
	bucketMeta    = []byte("meta")    // "schema" -> number
	bucketRecords = []byte("records") // [kind] id -> version, expiry, [parent], value
	bucketParents = []byte("parents") // [kind] [parent] id -> nothing
	bucketExpiry  = []byte("expiry")  // moment [kind] id -> nothing

	keySchema = []byte("schema")
)

// schema is the number of this layout.
const schema = 1

// never is the stored expiry of a record without one.
const never = math.MaxInt64

var errDamaged = errors.New("a record in the state file is damaged")

func appendFramed(b []byte, name string) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(name))) //nolint:gosec // at most store.MaxKeyLength
	return append(b, name...)
}

func recordKey(k store.Key) []byte {
	return append(appendFramed(make([]byte, 0, 2+len(k.Kind)+len(k.ID)), string(k.Kind)), k.ID...)
}

func parentKey(kind store.Kind, parent, id string) []byte {
	b := appendFramed(make([]byte, 0, 4+len(kind)+len(parent)+len(id)), string(kind))
	return append(appendFramed(b, parent), id...)
}

// expiryKey sorts by moment: the sign bit is turned so that times before 1970 come first.
func expiryKey(millis int64, record []byte) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(record)), uint64(millis)^1<<63) //nolint:gosec // bits, not a number
	return append(b, record...)
}

func splitExpiryKey(b []byte) (millis int64, record []byte) {
	return int64(binary.BigEndian.Uint64(b) ^ 1<<63), b[8:] //nolint:gosec // bits, not a number
}

// toMillis rounds an expiry up to the stored precision.
func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return ms
}

func fromMillis(millis int64) time.Time {
	if millis == never {
		return time.Time{}
	}
	return time.UnixMilli(millis)
}

// stored is a record as it lies in the file. Its slices belong to the transaction.
type stored struct {
	version uint64
	expires int64
	parent  []byte
	value   []byte
}

func (s stored) isLive(now int64) bool { return s.expires == never || now < s.expires }

func (s stored) encodeStored() []byte {
	b := make([]byte, 0, 18+len(s.parent)+len(s.value))
	b = binary.BigEndian.AppendUint64(b, s.version)
	b = binary.BigEndian.AppendUint64(b, uint64(s.expires)) //nolint:gosec // bits, not a number
	b = appendFramed(b, string(s.parent))
	return append(b, s.value...)
}

func decodeStored(b []byte) (stored, error) {
	if len(b) < 18 {
		return stored{}, errDamaged
	}
	n := 18 + int(binary.BigEndian.Uint16(b[16:]))
	if len(b) < n {
		return stored{}, errDamaged
	}
	return stored{
		version: binary.BigEndian.Uint64(b),
		expires: int64(binary.BigEndian.Uint64(b[8:])), //nolint:gosec // bits, not a number
		parent:  b[18:n],
		value:   b[n:],
	}, nil
}

// toRecord copies it out of the transaction.
func (s stored) toRecord(key store.Key) store.Record {
	return store.Record{
		Key:     key,
		Parent:  string(s.parent),
		Value:   append([]byte{}, s.value...),
		Version: s.version,
		Expires: fromMillis(s.expires),
	}
}

func splitRecordKey(b []byte) store.Key {
	n := 2 + int(binary.BigEndian.Uint16(b))
	return store.Key{Kind: store.Kind(b[2:n]), ID: string(b[n:])}
}
