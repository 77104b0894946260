package redis

import (
	"encoding/binary"
	"strconv"

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
	text    []byte // of the last vector, for using its room again
}

// tag is what makes all keys of a limiter one slot of a Redis Cluster. "*" is in no name.
func tag(limiter string) string {
	if limiter == "" {
		return "{*}"
	}
	return "{" + limiter + "}"
}

// newAsk wants a request with at least one charge that passed its Check. Its keys are
//
//	<prefix>limit:{<limiter>}<policy>:<window in ms>x<slots>:<subject>
//
// and the first part up to the tag is the same for all of them.
func newAsk(prefix string, r *ratelimit.Request) *ask {
	a := new(ask)
	a.set(prefix, r)
	return a
}

// set makes the ask that of another request.
func (a *ask) set(prefix string, r *ratelimit.Request) {
	a.cost = min(max(r.Cost, 1), maxCost)
	a.charges = a.charges[:0]
	limit := tag(r.Charges[0].Policy.Limiter)
	text := a.text[:0]
	var ends [ratelimit.MaxCharges]int
	for i := range r.Charges {
		p := r.Charges[i].Policy
		window := p.Window.Milliseconds()
		text = append(text, prefix...)
		text = append(text, "limit:"...)
		text = append(text, limit...)
		text = append(text, p.Name...)
		text = append(text, ':')
		text = strconv.AppendInt(text, window, 10)
		text = append(text, 'x')
		text = strconv.AppendInt(text, ratelimit.Slots, 10)
		text = append(text, ':')
		text = append(text, ratelimit.Subject(r.Charges[i].Subject)...)
		ends[i] = len(text)
		a.charges = append(a.charges, charge{window: window, limit: p.Limit, dry: p.DryRun})
	}
	for i := range a.charges {
		c := &a.charges[i]
		text = binary.BigEndian.AppendUint32(text, uint32(c.limit))
		text = append(text, bit(c.dry))
	}
	for i := range a.charges { // a subject may hold any bytes: it must not look like the end of one key and the next
		text = binary.BigEndian.AppendUint32(text, uint32(ends[i]))
	}
	text = binary.BigEndian.AppendUint64(text, uint64(a.cost))
	text = append(text, byte(len(a.charges)))
	a.vector, a.text = string(text), text
	begin := 0
	for i := range a.charges {
		a.charges[i].key = a.vector[begin:ends[i]]
		begin = ends[i]
	}
}

func bit(dry bool) byte {
	if dry {
		return 1
	}
	return 0
}
