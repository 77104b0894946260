package bolt

import (
	"errors"
	"runtime"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

// maxBatch bounds one transaction, and so how long the last of a rush waits for an answer behind the first.
const maxBatch = 256

// errUnchanged rolls a transaction back in which nothing was written: refusals need no disk.
var errUnchanged = errors.New("store bolt: nothing to write")

// commitAll is the one writer. What comes while it commits goes with the next.
func (b *Backend) commitAll() {
	defer close(b.stopped)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	b.compactIfWasteful()
	for {
		select {
		case <-b.closing:
			return
		case <-look.C:
			b.compactIfWasteful()
		case c := <-b.compactions:
			c.before, c.after, c.err = b.handle.compact()
			close(c.done)
		case first := <-b.queue:
			b.commitRequests(b.gatherRequests(first))
		}
	}
}

// gatherRequests takes what waits, and with a group commit time what comes during it.
func (b *Backend) gatherRequests(first *request) []*request {
	requests := []*request{first}
	var end <-chan time.Time
	if b.wait > 0 {
		timer := time.NewTimer(b.wait)
		defer timer.Stop()
		end = timer.C
	} else {
		// The callers answered just now are runnable and may be about to write
		// again: let them, and share the disk with them.
		runtime.Gosched()
	}
	for len(requests) < maxBatch {
		select {
		case q := <-b.queue:
			requests = append(requests, q)
			continue
		default:
		}
		if end == nil {
			return requests
		}
		select {
		case q := <-b.queue:
			requests = append(requests, q)
		case <-end:
			return requests
		case <-b.closing:
			return requests
		}
	}
	return requests
}

// commitRequests writes the requests in one transaction and answers each when it is on the disk. The refusal of one
// leaves the others alone, and so does a record that cannot be read; any other fault is everybody's.
func (b *Backend) commitRequests(requests []*request) {
	damaged := false // something that is swept
	err := b.handle.updateTx(func(tx *bbolt.Tx) error {
		batch := newBatch(tx, b.now().UnixMilli())
		for _, q := range requests {
			if q.err = q.ctx.Err(); q.err != nil {
				continue
			}
			q.answer, q.err = q.apply(batch, q.record)
			if q.err != nil && !store.IsAnswer(q.err) && !errors.Is(q.err, errDamaged) {
				return q.err // it may have written half of what it should
			}
		}
		if !batch.changed {
			return errUnchanged
		}
		// More than the batch can have added, so that any backlog drains.
		var err error
		damaged, err = batch.sweepExpired(sweepBase + 2*len(requests))
		return err
	})
	if errors.Is(err, errUnchanged) {
		err = nil
	}
	if err = b.markFault(err); err == nil {
		b.hub.notifyWatchers(requests)
	}
	if damaged {
		_ = b.markFault(errDamaged) // for Health
	}
	for _, q := range requests {
		q.err = b.markFault(q.err)
		if err != nil {
			q.answer, q.err = store.Record{}, err
		}
		close(q.done)
	}
}
