package bolt

import "bytes"

// sweepBase is how many expired records every write removes beside its own work, at the least.
const sweepBase = 32

// sweepExpired removes up to limit expired records, the oldest first, by the index alone. One that
// cannot be read is removed too, else no later write would succeed; nobody knows its parent, so
// its place there stays, see [Backend.List].
func (b *batch) sweepExpired(limit int) (damaged bool, err error) {
	var expired [][]byte // a cursor must not be deleted from under
	c := b.expiry.Cursor()
	for k, _ := c.First(); k != nil && len(expired) < limit; k, _ = c.Next() {
		if at, _ := splitExpiryKey(k); at > b.now {
			break
		}
		expired = append(expired, bytes.Clone(k))
	}
	for _, k := range expired {
		_, key := splitExpiryKey(k)
		s, ok, err := b.findRecord(key)
		switch {
		case ok:
			err = b.unlinkRecord(splitRecordKey(key), key, s)
		case err != nil:
			damaged = true
			err = b.records.Delete(key)
		}
		if err == nil {
			err = b.expiry.Delete(k)
		}
		if err != nil {
			return damaged, err
		}
	}
	return damaged, nil
}
