package bolt

import "github.com/gatehouse/gatehouse/module/store"

// swapRecord is the compare-and-swap of the contract: it replaces a record that still has the version that the caller
// read. The parent stays.
func (b *batch) swapRecord(r store.Record) (store.Record, error) {
	key := recordKey(r.Key)
	old, ok, err := b.findRecord(key)
	switch {
	case err != nil:
		return store.Record{}, err
	case !ok || !old.isLive(b.now):
		return store.Record{}, store.ErrNotFound
	case old.version != r.Version:
		return store.Record{}, store.ErrConflict
	}
	r.Parent = string(old.parent)
	if old.expires != never && old.expires != toMillis(r.Expires) {
		if err := b.expiry.Delete(expiryKey(old.expires, key)); err != nil {
			return store.Record{}, err
		}
	}
	return b.putRecord(key, r)
}
