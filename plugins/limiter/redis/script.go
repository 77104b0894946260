package redis

import (
	"context"
	_ "embed"
	"encoding/binary"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

//go:embed script.lua
var source string

var script = redisconn.NewScript(source)

// serversTime lets the script read the server's clock, which is the same for all nodes.
const serversTime = ""

// group is asks of one batch that are alike.
type group struct {
	*ask
	n     int // less than 1<<16, as the queue is shorter
	calls []*call
}

// batch is what one run of the script decides on.
type batch struct {
	groups []*group
	keys   []string
	places []place        // one for each key
	known  map[string]int // where a key is in keys
	like   map[string]*group
}

// place is what the script has to know of a key.
type place struct {
	window int64 // ms
	// What is below is for keys whose subjects clients choose.
	chosen             bool
	bucket, population int    // where their keys are
	own                uint32 // how many callers may have a key of their own
}

func newBatch() *batch { return &batch{known: make(map[string]int), like: make(map[string]*group)} }

// fits reports whether the batch has room for the keys of one more ask.
func (b *batch) fits(k *ask) bool {
	n := len(b.keys)
	for i := range k.charges {
		c := &k.charges[i]
		n += b.unknown(c.key)
		if c.chosen() {
			n += b.unknown(c.bucket) + b.unknown(c.population)
		}
	}
	return n <= maxKeys
}

func (b *batch) unknown(key string) int {
	if _, ok := b.known[key]; ok {
		return 0
	}
	return 1
}

func (b *batch) add(g *group) {
	for i := range g.charges {
		c := &g.charges[i]
		at := b.place(c.key, c.window)
		if c.chosen() {
			bucket, population := b.place(c.bucket, c.window), b.place(c.population, c.window)
			b.places[at] = place{c.window, true, bucket, population, c.own}
		}
	}
	b.groups = append(b.groups, g)
	b.like[g.vector] = g
}

// place finds or makes the place of a key. The script wants a key before its bucket and
// population.
func (b *batch) place(key string, window int64) int {
	at, ok := b.known[key]
	if !ok {
		at = len(b.keys)
		b.known[key] = at
		b.keys, b.places = append(b.keys, key), append(b.places, place{window: window})
	}
	return at
}

// chosenBit in the window of a key tells that a bucket and a population follow.
const chosenBit = 1 << 39

// spec is the script's ARGV[2].
func (b *batch) spec() []byte {
	size := 11 * len(b.keys)
	for _, g := range b.groups {
		size += 8 + 5*len(g.charges)
	}
	spec := make([]byte, 0, size)
	for i := range b.places {
		p := &b.places[i]
		if !p.chosen {
			spec = append40(spec, p.window)
			continue
		}
		spec = append40(spec, p.window|chosenBit)
		spec = append(spec, byte(p.bucket), byte(p.population))
		spec = binary.BigEndian.AppendUint32(spec, p.own)
	}
	for _, g := range b.groups {
		spec = binary.BigEndian.AppendUint16(spec, uint16(g.n))
		spec = append40(spec, g.cost)
		spec = append(spec, byte(len(g.charges)))
		for i := range g.charges {
			c := &g.charges[i]
			spec = append(spec, byte(b.known[c.key])|bit(c.dry)<<7)
			spec = binary.BigEndian.AppendUint32(spec, uint32(c.limit))
		}
	}
	return spec
}

func append40(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint32(append(b, byte(v>>32)), uint32(v))
}

// read splits the script's reply into an answer for each group.
func (b *batch) read(reply []int64) ([]answer, error) {
	if len(reply) == 0 {
		return nil, errReply
	}
	at, reply := reply[0], reply[1:]
	answers := make([]answer, len(b.groups))
	charges := 0
	for _, g := range b.groups {
		charges += len(g.charges)
	}
	counts := make([]count, charges)
	for i, g := range b.groups {
		m := len(g.charges)
		a := &answers[i]
		a.at, a.asked, a.counts, counts = at, g.n, counts[:m:m], counts[m:]
		if len(reply) < 1+3*m {
			return nil, errReply
		}
		a.admitted, reply = int(reply[0]), reply[1:]
		for j := range a.counts {
			if reply = a.counts[j].read(reply, &g.charges[j], a.admitted, b.places[b.known[g.charges[j].key]].chosen); reply == nil {
				return nil, errReply
			}
		}
	}
	if len(reply) != 0 {
		return nil, errReply
	}
	return answers, nil
}

// read takes what the reply says of a charge and returns the rest, or nil if the reply is too short.
func (c *count) read(reply []int64, of *charge, admitted int, chosen bool) []int64 {
	width := 3 + int(bit(of.dry)) + int(bit(chosen))
	if len(reply) < width {
		return nil
	}
	*c = count{total: reply[0], free: reply[1], retry: reply[2], took: admitted}
	if of.dry {
		c.took = int(reply[3])
	}
	c.shared = chosen && reply[width-1] == 1
	return reply[width:]
}

// run has Redis decide on the batch, at most once. An error leaves open whether it did, and
// then it may have counted too much, but never too little.
func (b *batch) run(ctx context.Context, client goredis.UniversalClient, now string) ([]answer, error) {
	reply, err := script.Run(ctx, client, b.keys, now, b.spec())
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
	return b.read(numbers)
}
