package bolt

import (
	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

// batch is a write transaction: the changes of many callers, one after another.
type batch struct {
	records, parents, expiry *bbolt.Bucket
	now                      int64
	changed                  bool
}

func newBatch(tx *bbolt.Tx, now int64) *batch {
	return &batch{records: tx.Bucket(bucketRecords), parents: tx.Bucket(bucketParents), expiry: tx.Bucket(bucketExpiry), now: now}
}

// findRecord returns the stored record; ok is false if there is none, live or not.
func (b *batch) findRecord(key []byte) (s stored, ok bool, err error) {
	raw := b.records.Get(key)
	if raw == nil {
		return stored{}, false, nil
	}
	s, err = decodeStored(raw)
	return s, err == nil, err
}

func (b *batch) createRecord(r store.Record) (store.Record, error) {
	key := recordKey(r.Key)
	old, ok, err := b.findRecord(key)
	switch {
	case err != nil:
		return store.Record{}, err
	case ok && old.isLive(b.now):
		return store.Record{}, store.ErrExists
	case ok:
		if err := b.unlinkRecord(r.Key, key, old); err != nil {
			return store.Record{}, err
		}
	}
	return b.putRecord(key, r)
}

func (b *batch) removeRecord(r store.Record) (store.Record, error) {
	key := recordKey(r.Key)
	old, ok, err := b.findRecord(key)
	if err == nil && ok {
		err = b.unlinkRecord(r.Key, key, old)
	}
	return store.Record{}, err
}

// putRecord writes a record with its next version and its places in the indexes. The versions are one sequence for
// the whole file, so that none comes back when a record is made again.
func (b *batch) putRecord(key []byte, r store.Record) (store.Record, error) {
	version, err := b.records.NextSequence()
	if err != nil {
		return store.Record{}, err
	}
	b.changed = true
	s := stored{version: version, expires: toMillis(r.Expires), parent: []byte(r.Parent), value: r.Value}
	err = b.records.Put(key, s.encodeStored())
	if err == nil && r.Parent != "" {
		err = b.parents.Put(parentKey(r.Kind, r.Parent, r.ID), nil)
	}
	if err == nil && s.expires != never {
		err = b.expiry.Put(expiryKey(s.expires, key), nil)
	}
	r.Version, r.Expires = version, fromMillis(s.expires)
	return r, err
}

// unlinkRecord removes a record and its places in the indexes.
func (b *batch) unlinkRecord(k store.Key, key []byte, s stored) (err error) {
	b.changed = true
	if len(s.parent) > 0 {
		err = b.parents.Delete(parentKey(k.Kind, string(s.parent), k.ID))
	}
	if err == nil && s.expires != never {
		err = b.expiry.Delete(expiryKey(s.expires, key))
	}
	if err != nil {
		return err
	}
	return b.records.Delete(key)
}
