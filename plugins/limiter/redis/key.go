package redis

import (
	"encoding/binary"
	"strconv"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// maxCost is above every limit, so a higher cost makes no difference to any decision.
const maxCost = 1 << 32

// encodedCharge is what the script has to know about a charge.
type encodedCharge struct {
	key    string
	window int64 // ms
	limit  int64
	dry    bool
	// The rest is for a policy whose subjects clients choose, see [keyBudget].
	bucket     string
	population string
	maxOwnKeys uint32 // how many callers may have a key of their own
}

// chosenByClient reports whether clients choose the subject.
func (c *encodedCharge) chosenByClient() bool { return c.bucket != "" }

// encodedRequest is a request in the script's terms. It keeps no reference to the request.
type encodedRequest struct {
	// vector holds everything the script has to know: requests with equal vectors are alike.
	vector  string
	cost    int64
	charges []encodedCharge
	buffer  []byte // of the last vector, for reuse
}

// encodeRequest expects a request with at least one charge that passed its Check. The keys are
//
//	<head><policy>:<window in ms>x<slots>:<subject>
//
// of which the head is <prefix>limit:<tag>, see [place]. Where clients choose the
// subject there are two more, without the colon and the subject: with "#" and the number
// of a bucket, and with "#" alone the population.
func encodeRequest(head string, r *ratelimit.Request, budget keyBudget) *encodedRequest {
	a := new(encodedRequest)
	a.encode(head, r, budget)
	return a
}

// encode replaces the content with that of another request.
func (a *encodedRequest) encode(head string, r *ratelimit.Request, budget keyBudget) {
	a.cost = min(max(r.Cost, 1), maxCost)
	a.charges = a.charges[:0]
	text := a.buffer[:0]
	var ends [ratelimit.MaxCharges]struct{ key, population, bucket int }
	for i := range r.Charges {
		p := r.Charges[i].Policy
		window, subject := p.Window.Milliseconds(), ratelimit.Subject(r.Charges[i].Subject)
		begin := len(text)
		text = append(text, head...)
		text = append(text, p.Name...)
		text = append(text, ':')
		text = strconv.AppendInt(text, window, 10)
		text = append(text, 'x')
		text = strconv.AppendInt(text, ratelimit.Slots, 10)
		name := len(text)
		text = append(text, ':')
		text = append(text, subject...)
		c := encodedCharge{window: window, limit: p.Limit, dry: p.DryRun}
		ends[i].key = len(text)
		if p.Chosen {
			c.maxOwnKeys = budget.callers
			text = append(text, text[begin:name]...)
			text = append(text, '#')
			ends[i].population = len(text)
			text = strconv.AppendUint(text, uint64(budget.salt.Bucket(subject)), 10)
		}
		ends[i].bucket = len(text)
		a.charges = append(a.charges, c)
	}
	for i := range a.charges {
		c := &a.charges[i]
		text = binary.BigEndian.AppendUint32(text, uint32(c.limit))
		text = append(text, boolBit(c.dry)|boolBit(r.Charges[i].Policy.Chosen)<<1)
	}
	for i := range a.charges { // a subject may hold any bytes: it must not pass for the end of one key and the start of the next
		text = binary.BigEndian.AppendUint32(text, uint32(ends[i].key))
	}
	text = binary.BigEndian.AppendUint64(text, uint64(a.cost))
	text = append(text, byte(len(a.charges)))
	a.vector, a.buffer = string(text), text
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

// neverFit makes it a request that Redis refuses, whatever it counts: so it takes nothing, and its answer says what
// the request would have met. One charge is there twice, under a limit of none.
func (a *encodedRequest) neverFit() {
	never := a.charges[0]
	never.limit, never.dry = 0, false
	a.charges = append(a.charges, never)
	a.vector += "\x00" // others end with the number of their charges
}

func boolBit(on bool) byte {
	if on {
		return 1
	}
	return 0
}
