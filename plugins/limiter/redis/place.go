package redis

import (
	"strconv"

	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/internal/hashslot"
)

// Where the keys of a request are in a cluster:
//
// One script decides on policies together, so their keys need one hash tag. Policies that
// count a request for several subjects, such as its user and its client, have a tag for all of their
// keys, and so one server. Where all policies of a request count the same subject, its tag is one of
// 24 for each limiter, by a hash of the subject: one for each subject would leave nothing to send in
// one batch. The slots of the 24 are as far apart as they can be, so that servers which share
// the slots evenly share the subjects evenly. Beside common policies, such as "all", see [division].

// shards can be divided by 2, 3, 4, 6, 8 and 12 servers. More of them make smaller batches.
const shards = 24

// place is a set of keys with one hash tag.
type place struct {
	limiter string
	name    string // of policies that are together, see [ratelimit.Policy]; "" on a single server
	shard   uint8  // if name is [ratelimit.BySubject]
}

// placeOf expects a request with at least one charge that passed its Check, or in a cluster a part of it, see [division].
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
		return "{" + p.limiter + "*" + strconv.Itoa(hashslot.Spread(p.limiter+"*", shards)[p.shard]) + "}"
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
