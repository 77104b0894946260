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
	// What is below is for a policy whose subjects clients choose, see [room].
	bucket     string
	population string
	own        uint32 // how many callers may have a key of their own
}

// chosen reports whether clients choose the subject.
func (c *charge) chosen() bool { return c.bucket != "" }

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
// and the first part up to the tag is the same for all of them. Where clients choose the
// subject there are two more, without the colon and the subject: with "#" and the number
// of a bucket, and with "#" alone the population.
func newAsk(prefix string, r *ratelimit.Request, own room) *ask {
	a := new(ask)
	a.set(prefix, r, own)
	return a
}

// set makes the ask that of another request.
func (a *ask) set(prefix string, r *ratelimit.Request, own room) {
	a.cost = min(max(r.Cost, 1), maxCost)
	a.charges = a.charges[:0]
	limit := tag(r.Charges[0].Policy.Limiter)
	text := a.text[:0]
	var ends [ratelimit.MaxCharges]struct{ key, population, bucket int }
	for i := range r.Charges {
		p := r.Charges[i].Policy
		window, subject := p.Window.Milliseconds(), ratelimit.Subject(r.Charges[i].Subject)
		begin := len(text)
		text = append(text, prefix...)
		text = append(text, "limit:"...)
		text = append(text, limit...)
		text = append(text, p.Name...)
		text = append(text, ':')
		text = strconv.AppendInt(text, window, 10)
		text = append(text, 'x')
		text = strconv.AppendInt(text, ratelimit.Slots, 10)
		head := len(text)
		text = append(text, ':')
		text = append(text, subject...)
		c := charge{window: window, limit: p.Limit, dry: p.DryRun}
		ends[i].key = len(text)
		if p.Chosen {
			c.own = own.callers
			text = append(text, text[begin:head]...)
			text = append(text, '#')
			ends[i].population = len(text)
			text = strconv.AppendUint(text, uint64(own.salt.Bucket(subject)), 10)
		}
		ends[i].bucket = len(text)
		a.charges = append(a.charges, c)
	}
	for i := range a.charges {
		c := &a.charges[i]
		text = binary.BigEndian.AppendUint32(text, uint32(c.limit))
		text = append(text, bit(c.dry)|bit(r.Charges[i].Policy.Chosen)<<1)
	}
	for i := range a.charges { // a subject may hold any bytes: it must not look like the end of one key and the next
		text = binary.BigEndian.AppendUint32(text, uint32(ends[i].key))
	}
	text = binary.BigEndian.AppendUint64(text, uint64(a.cost))
	text = append(text, byte(len(a.charges)))
	a.vector, a.text = string(text), text
	begin := 0
	for i := range a.charges {
		c, end := &a.charges[i], &ends[i]
		c.key = a.vector[begin:end.key]
		if end.population > 0 {
			c.population, c.bucket = a.vector[end.key:end.population], a.vector[end.key:end.bucket]
		}
		begin = end.bucket
	}
}

func bit(on bool) byte {
	if on {
		return 1
	}
	return 0
}
