package ratelimit

// What happens when the memory is full.
//
// A subject that is evicted is folded into a bucket, one of thousands that its policy has,
// which a hash of the subject chooses. A bucket counts as much as any one of the subjects
// that were folded into it, not as much as all of them: for every slot, as many units since
// then as the one of them that has most, see [State.cover]. A subject without a State of its
// own is taken to have used what its bucket counts, and a new State begins with that. So
//
//   - a subject never exceeds a limit: after an eviction its bucket counts at least its
//     units, for as long as they count, and so does a State made from the bucket;
//   - a million subjects that sent one request each cost a bucket one unit, and new
//     subjects have the rest of their limit. Only if within one window several times as many
//     subjects come as there is room for does a bucket gain a unit each time that all of
//     them were evicted;
//   - a greedy subject is in the way of the few that share its bucket, and only when it was
//     evicted.
//
// Expired States go first, which [table.sweep] sees to. Then it is the turn of the policy
// with the most subjects, so that a flood of subjects under one policy evicts its own; of
// these the one that is idle for longest, and subjects that have used more than half of
// their limit only when there are no others.

// bucketsMost is how many buckets a policy has. They may take a quarter of the memory; when
// they take more, policies have half as many.
const bucketsMost = 1 << 16

// evictSome makes room by some bytes. It reports whether there was anything that could go.
func (t *table) evictSome(now int64) bool {
	if t.crowd > t.cap/4 && t.halveBuckets(now) {
		return true
	}
	var most *line
	for _, l := range t.lines {
		if l != nil && l.keyCount() > 0 && (most == nil || l.keyCount() > most.keyCount()) {
			most = l
		}
	}
	if most == nil {
		return t.halveBuckets(now)
	}
	at := most.lists[light].first
	if at == 0 {
		at = most.lists[heavy].first
	}
	c := *t.cells.element(at)
	var s State
	t.loadState(at, &s)
	t.removeCell(at)
	t.folded++
	t.foldIntoBucket(c.line, most.bucketNumber(c.subject), &s, now)
	return true
}

// foldIntoBucket has a bucket count at least what the State does.
func (t *table) foldIntoBucket(line uint32, bucket uint64, s *State, now int64) {
	grain := t.lines[line].grain
	if s.Advance(grain, now); s.total == 0 {
		return
	}
	at := t.findCell(bucketID(bucket), line, true)
	if at == 0 {
		at = t.addCell(bucketID(bucket), line, shared)
	} else {
		var held State
		t.loadState(at, &held)
		held.Advance(grain, now)
		s.coverState(&held)
	}
	p := packState(s)
	t.storeState(at, &p, s)
	t.touchCell(at, shared)
}

// halveBuckets gives the policy with the most buckets half as many numbers of them. It reports
// whether there was one that could do with fewer.
func (t *table) halveBuckets(now int64) bool {
	most := noLine
	for i, l := range t.lines {
		if l != nil && l.mask > 0 && l.lists[shared].n > 0 && (most == noLine || l.lists[shared].n > t.lines[most].lists[shared].n) {
			most = uint32(i)
		}
	}
	if most == noLine {
		return false
	}
	l := t.lines[most]
	l.mask >>= 1
	// Whatever is folded or touched goes to the end of the list, behind those that are
	// looked at.
	for range l.lists[shared].n {
		at := l.lists[shared].first
		number := t.cells.element(at).subject[0]
		if number <= l.mask {
			t.touchCell(at, shared)
			continue
		}
		var s State
		t.loadState(at, &s)
		t.removeCell(at)
		t.foldIntoBucket(most, number&l.mask, &s, now)
	}
	return true
}

// bucketNumber is the number of a subject's bucket.
func (l *line) bucketNumber(subject [2]uint64) uint64 { return subject[0] >> shardBits & l.mask }

// bucketID is the place of a subject's hash in the cell of a bucket.
func bucketID(number uint64) [2]uint64 { return [2]uint64{number, number * 0x9e3779b97f4a7c15} }
