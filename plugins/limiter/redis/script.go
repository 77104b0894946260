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
	known  map[string]int // where a key is in keys
	like   map[string]*group
}

func newBatch() *batch { return &batch{known: make(map[string]int), like: make(map[string]*group)} }

// fits reports whether the batch has room for the keys of one more ask.
func (b *batch) fits(k *ask) bool {
	n := len(b.keys)
	for i := range k.charges {
		if _, ok := b.known[k.charges[i].key]; !ok {
			n++
		}
	}
	return n <= maxKeys
}

func (b *batch) add(g *group) {
	for i := range g.charges {
		key := g.charges[i].key
		if _, ok := b.known[key]; !ok {
			b.known[key] = len(b.keys)
			b.keys = append(b.keys, key)
		}
	}
	b.groups = append(b.groups, g)
	b.like[g.vector] = g
}

// spec is the script's ARGV[2].
func (b *batch) spec() []byte {
	windows := make([]int64, len(b.keys))
	size := 5 * len(b.keys)
	for _, g := range b.groups {
		for i := range g.charges {
			windows[b.known[g.charges[i].key]] = g.charges[i].window
		}
		size += 8 + 5*len(g.charges)
	}
	spec := make([]byte, 0, size)
	for _, w := range windows {
		spec = append40(spec, w)
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
			width := 3
			if g.charges[j].dry {
				width = 4
			}
			if len(reply) < width {
				return nil, errReply
			}
			a.counts[j] = count{total: reply[0], free: reply[1], retry: reply[2], took: a.admitted}
			if width == 4 {
				a.counts[j].took = int(reply[3])
			}
			reply = reply[width:]
		}
	}
	if len(reply) != 0 {
		return nil, errReply
	}
	return answers, nil
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
