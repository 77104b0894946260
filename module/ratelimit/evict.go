package ratelimit

// What happens when the memory is full.
//
// A subject that is evicted is folded into one of its policy's thousands of buckets, chosen by a
// hash of the subject. A bucket counts as much as the largest of the subjects that were folded
// into it, not their sum: for every slot, as many units since then as any one of them, see
// [State.coverState]. A subject without a State of its own that may have been evicted is taken to
// have used what its bucket counts, and a new State begins with that; see [evicted]. So
//
//   - a subject never exceeds a limit: after an eviction its bucket counts at least its
//     units, for as long as they count, and so does a State made from the bucket;
//   - new subjects have their whole limit, but for the few that are taken for evicted ones: one in
//     a thousand with twice as many subjects in a window as there is room for, and one in ten with
//     ten times as many. Those find in a bucket what the busiest of its subjects used, which for
//     subjects that send little is little;
//   - a greedy subject affects the few that share its bucket, and only once it was evicted.
//
// Expired States go first, see [table.sweepCells]. Then the policy with the most subjects loses
// one, so that a flood of subjects under one policy evicts its own: the one that is idle for
// longest, and one that has used more than half of its limit only if there are no others.

// bucketsMost is how many buckets a policy has. They may take a quarter of the memory; when
// they take more, policies have half as many.
const bucketsMost = 1 << 16

// evictSome frees some bytes. It reports whether there was anything to evict.
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
	t.evicted.add(t, c.subject, c.line, now)
	t.foldIntoBucket(c.line, most.bucketNumber(c.subject), &s, now)
	return true
}

// foldIntoBucket raises the counts of a bucket to at least those of the State.
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

// halveBuckets halves the number of buckets of the policy with the most. It reports whether there
// was a policy with more than one.
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
	// What is folded or touched goes to the end of the list, behind those still to be visited.
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

// bucketNumber returns the number of a subject's bucket.
func (l *line) bucketNumber(subject [2]uint64) uint64 { return subject[0] >> shardBits & l.mask }

// bucketID stands in a bucket's cell in place of a subject's hash.
func bucketID(number uint64) [2]uint64 { return [2]uint64{number, number * 0x9e3779b97f4a7c15} }
