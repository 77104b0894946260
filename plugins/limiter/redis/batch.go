package redis

import (
	"context"
	_ "embed"
	"encoding/binary"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

//go:embed script.lua
var scriptText string

var decideScript = redisconn.NewScript(scriptText)

// serversTime lets the script read the server's clock, which is the same for all nodes.
const serversTime = ""

// group is the requests of a batch that are alike.
type group struct {
	*encodedRequest
	n     int // less than 1<<16, as the queue is shorter
	lease int // more of them that Redis may charge in advance, less than 1<<16
	calls []*call
}

// batch is the requests that one run of the script decides on.
type batch struct {
	sent        time.Time // under the pipeline's lock until it is settled
	countedLate bool      // by the breaker; under the pipeline's lock

	groups   []*group
	keys     []string
	keySpecs []keySpec      // one for each of keys
	keyIndex map[string]int // where a key is in keys and keySpecs
	byVector map[string]*group

	returns []byte // units given back, as the script's ARGV[3]
}

// keySpec is what the script has to know about a key.
type keySpec struct {
	window int64 // ms
	// The rest is for keys whose subjects clients choose.
	chosen             bool
	bucket, population int    // the indexes of their keys
	maxOwnKeys         uint32 // how many callers may have a key of their own
}

func newBatch() *batch {
	return &batch{keyIndex: make(map[string]int), byVector: make(map[string]*group)}
}

// hasRoomFor reports whether the keys of one more request fit into the batch.
func (b *batch) hasRoomFor(k *encodedRequest) bool {
	n := len(b.keys)
	for i := range k.charges {
		c := &k.charges[i]
		for _, key := range [...]string{c.key, c.bucket, c.population} {
			if _, ok := b.keyIndex[key]; !ok && key != "" {
				n++
			}
		}
	}
	return n <= maxKeys
}

func (b *batch) addGroup(g *group) {
	for i := range g.charges {
		c := &g.charges[i]
		at := b.addKey(c.key, c.window)
		if c.chosenByClient() {
			bucket, population := b.addKey(c.bucket, c.window), b.addKey(c.population, c.window)
			b.keySpecs[at] = keySpec{c.window, true, bucket, population, c.maxOwnKeys}
		}
	}
	b.groups = append(b.groups, g)
	b.byVector[g.vector] = g
}

// addKey returns the index of a key, which it adds if it is new. The script expects a key
// before its bucket and population.
func (b *batch) addKey(key string, window int64) int {
	at, ok := b.keyIndex[key]
	if !ok {
		at = len(b.keys)
		b.keyIndex[key] = at
		b.keys, b.keySpecs = append(b.keys, key), append(b.keySpecs, keySpec{window: window})
	}
	return at
}

// chosenBit in the window of a key says that a bucket and a population follow.
const chosenBit = 1 << 39

// encodeSpec returns the script's ARGV[2].
func (b *batch) encodeSpec() []byte {
	size := 11 * len(b.keys)
	for _, g := range b.groups {
		size += 10 + 5*len(g.charges)
	}
	spec := make([]byte, 0, size)
	for i := range b.keySpecs {
		p := &b.keySpecs[i]
		if !p.chosen {
			spec = append40(spec, p.window)
			continue
		}
		spec = append40(spec, p.window|chosenBit)
		spec = append(spec, byte(p.bucket), byte(p.population))
		spec = binary.BigEndian.AppendUint32(spec, p.maxOwnKeys)
	}
	for _, g := range b.groups {
		spec = binary.BigEndian.AppendUint16(spec, uint16(g.n))
		spec = append40(spec, g.cost)
		spec = append(spec, byte(len(g.charges)))
		spec = binary.BigEndian.AppendUint16(spec, uint16(g.lease))
		for i := range g.charges {
			c := &g.charges[i]
			spec = append(spec, byte(b.keyIndex[c.key])|boolBit(c.dry)<<7)
			spec = binary.BigEndian.AppendUint32(spec, uint32(c.limit))
		}
	}
	return spec
}

// giveBack adds units that were leased and not used. The batch must have room for their key.
func (b *batch) giveBack(u unusedUnits) {
	b.returns = append(b.returns, byte(b.addKey(u.key, u.window)))
	b.returns = append40(b.returns, u.slot)
	b.returns = binary.BigEndian.AppendUint32(b.returns, uint32(u.units))
}

func append40(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint32(append(b, byte(v>>32)), uint32(v))
}

// parseReply splits the script's reply into one answer for each group.
func (b *batch) parseReply(reply []int64) ([]answer, error) {
	if len(reply) == 0 {
		return nil, errReply
	}
	at, reply := reply[0], reply[1:]
	answers := make([]answer, len(b.groups))
	charges := 0
	for _, g := range b.groups {
		charges += len(g.charges)
	}
	counts := make([]chargeCount, charges)
	for i, g := range b.groups {
		m := len(g.charges)
		a := &answers[i]
		a.at, a.asked, a.counts, counts = at, g.n, counts[:m:m], counts[m:]
		if len(reply) < 1+3*m {
			return nil, errReply
		}
		a.admitted, reply = int(reply[0]), reply[1:]
		for j := range a.counts {
			if reply = a.counts[j].parseCount(reply, &g.charges[j], a.admitted, b.keySpecs[b.keyIndex[g.charges[j].key]].chosen); reply == nil {
				return nil, errReply
			}
		}
	}
	if len(reply) != 0 {
		return nil, errReply
	}
	return answers, nil
}

// parseCount reads the part of the reply for one charge and returns the rest, or nil if the
// reply is too short.
func (c *chargeCount) parseCount(reply []int64, k *encodedCharge, admitted int, chosen bool) []int64 {
	width := 3 + int(boolBit(k.dry)) + int(boolBit(chosen))
	if len(reply) < width {
		return nil
	}
	*c = chargeCount{total: reply[0], free: reply[1], retry: reply[2], fitted: admitted}
	if k.dry {
		c.fitted = int(reply[3])
	}
	c.shared = chosen && reply[width-1] == 1
	return reply[width:]
}

// execute has Redis decide on the batch, at most once. After an error Redis may have decided
// or not: it may have counted too much, but never too little.
func (b *batch) execute(ctx context.Context, client goredis.UniversalClient, now string) ([]answer, error) {
	reply, err := decideScript.Run(ctx, client, b.keys, now, b.encodeSpec(), b.returns)
	if err != nil {
		return nil, err
	}
	list, _ := reply.([]any)
	numbers := make([]int64, len(list))
	for i := range list {
		n, ok := list[i].(int64)
		if !ok {
			return nil, errReply
		}
		numbers[i] = n
	}
	return b.parseReply(numbers)
}
