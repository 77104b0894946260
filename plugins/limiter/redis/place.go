package redis

import (
	"strconv"
	"sync"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// Where the keys of a request are in a cluster:
//
// One script decides on all policies of a request, so their keys need one hash tag. Policies that
// count a request for several subjects, such as its user and its client, have a tag for all of their
// keys, and so one server. Where all policies of a request count the same subject, its tag is one of
// 24 for each limiter, by a hash of the subject: one for each subject would leave nothing to send in
// one batch. The slots of the 24 are as far apart as they can be, so that servers which share
// the slots evenly share the subjects evenly.

const (
	// shards can be divided by 2, 3, 4, 6, 8 and 12 servers. More of them make smaller batches.
	shards       = 24
	clusterSlots = 1 << 14
)

// place is a set of keys with one hash tag.
type place struct {
	limiter string
	name    string // of policies that are together, see [ratelimit.Policy]; "" on a single server
	shard   uint8  // if name is [ratelimit.BySubject]
}

// placeOf expects a request with at least one charge that passed its Check.
func (s *Source) placeOf(r *ratelimit.Request, budget keyBudget) place {
	first := &r.Charges[0]
	at := place{limiter: first.Policy.Limiter}
	if !s.settings.Cluster() {
		return at
	}
	at.name = first.Policy.Place
	if at.name == ratelimit.BySubject {
		subject := ratelimit.Subject(first.Subject)
		if first.Policy.Chosen { // a shard has all subjects of a bucket
			at.shard = shardOf(budget.salt.Bucket(subject))
		} else {
			at.shard = shardOf(hashSubject(subject))
		}
	}
	return at
}

// hashSubject is FNV-1a, the upper half: the same in every process.
func hashSubject(subject string) uint16 {
	h := uint32(2166136261)
	for i := range len(subject) {
		h = (h ^ uint32(subject[i])) * 16777619
	}
	return uint16(h >> 16)
}

func shardOf(hash uint16) uint8 { return uint8(int(hash) * shards >> 16) }

// tag is the hash tag of the keys. No name of a limiter contains "*".
func (p place) tag() string {
	switch {
	case p.name == ratelimit.BySubject:
		return "{" + p.limiter + "*" + strconv.Itoa(shardNumbers(p.limiter)[p.shard]) + "}"
	case p.name != "":
		return "{" + p.limiter + "*" + p.name + "}"
	case p.limiter != "":
		return "{" + p.limiter + "}"
	}
	return "{*}"
}

// callers returns how many callers may have a key of their own in this place.
func (p place) callers(all uint32) uint32 {
	if p.name == ratelimit.BySubject {
		return all/shards + 1
	}
	return all
}

// shardNumbers returns for each shard the lowest number that gives a tag of the limiter a slot in the
// middle of the shard's part of all slots.
func shardNumbers(limiter string) (numbers [shards]int) {
	for n, left := 0, shards; left > 0; n++ {
		at := slotOf(limiter+"*"+strconv.Itoa(n)) * shards * 4
		shard, quarter := at/4/clusterSlots, at/clusterSlots%4
		if numbers[shard] == 0 && (quarter == 1 || quarter == 2) {
			numbers[shard] = n + 1
			left--
		}
	}
	for i := range numbers {
		numbers[i]--
	}
	return numbers
}

// crcTable is that of CRC-16/XMODEM.
var crcTable = sync.OnceValue(func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
		table[i] = crc
	}
	return table
})

// slotOf returns the slot of a hash tag.
func slotOf(tag string) int {
	table := crcTable()
	crc := uint16(0)
	for i := range len(tag) {
		crc = crc<<8 ^ table[byte(crc>>8)^tag[i]]
	}
	return int(crc % clusterSlots)
}
