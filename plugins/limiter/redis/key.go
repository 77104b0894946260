package redis

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// maxCost is above every limit, so a higher cost makes no difference to any decision.
const maxCost = 1 << 32

// charge is what the script has to know of a request's charge.
type charge struct {
	key    string
	window int64 // ms
	limit  int64
	dry    bool
}

// ask is a request in the script's terms. It holds on to nothing of the request.
type ask struct {
	// vector is all there is to say about the ask: those with equal ones are alike.
	vector  string
	cost    int64
	charges []charge
	room    [2]charge // of most requests
}

// tag is what makes all keys of a limiter one slot of a Redis Cluster. "*" is in no name.
func tag(limiter string) string {
	if limiter == "" {
		limiter = "*"
	}
	return "{" + limiter + "}"
}

// newAsk wants a request with at least one charge that passed its Check. Its keys are
//
//	<prefix>limit:{<limiter>}<policy>:<window in ms>x<slots>:<subject>
//
// and the first part up to the tag is the same for all of them.
func newAsk(prefix string, r *ratelimit.Request) *ask {
	a := &ask{cost: min(max(r.Cost, 1), maxCost)}
	a.charges = a.room[:0]
	var (
		text  strings.Builder
		ends  [ratelimit.MaxCharges]int
		limit = tag(r.Charges[0].Policy.Limiter)
		size  int
	)
	for i := range r.Charges {
		size += len(prefix) + len(limit) + len(r.Charges[i].Policy.Name) + 96
	}
	text.Grow(size)
	var number [20]byte
	for i := range r.Charges {
		p := r.Charges[i].Policy
		window := p.Window.Milliseconds()
		text.WriteString(prefix)
		text.WriteString("limit:")
		text.WriteString(limit)
		text.WriteString(p.Name)
		text.WriteByte(':')
		text.Write(strconv.AppendInt(number[:0], window, 10))
		text.WriteByte('x')
		text.Write(strconv.AppendInt(number[:0], ratelimit.Slots, 10))
		text.WriteByte(':')
		text.WriteString(ratelimit.Subject(r.Charges[i].Subject))
		ends[i] = text.Len()
		a.charges = append(a.charges, charge{window: window, limit: p.Limit, dry: p.DryRun})
	}
	for i := range a.charges {
		c := &a.charges[i]
		text.Write(binary.BigEndian.AppendUint32(number[:0], uint32(c.limit)))
		text.WriteByte(bit(c.dry))
	}
	for i := range a.charges { // a subject may hold any bytes: it must not look like the end of one key and the next
		text.Write(binary.BigEndian.AppendUint32(number[:0], uint32(ends[i])))
	}
	text.Write(binary.BigEndian.AppendUint64(number[:0], uint64(a.cost)))
	text.WriteByte(byte(len(a.charges)))
	a.vector = text.String()
	begin := 0
	for i := range a.charges {
		a.charges[i].key = a.vector[begin:ends[i]]
		begin = ends[i]
	}
	return a
}

func bit(dry bool) byte {
	if dry {
		return 1
	}
	return 0
}
