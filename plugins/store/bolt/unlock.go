package bolt

import (
	"reflect"
	"sync"
	"unsafe"

	"go.etcd.io/bbolt"
)

// unlockBegin gives up the two locks that bbolt holds while it begins to read, and keeps when
// it panics there: over a file that was cut off, or whose first pages are damaged. Every
// later call would wait for them for ever, and so would whoever closes the database. bbolt
// has no other way to give them up. Where a version of it has other locks, nothing is done.
func unlockBegin(db *bbolt.DB) {
	if meta := lockOf[sync.Mutex](db, "metalock"); meta != nil {
		meta.Unlock()
	}
	if mapping := lockOf[sync.RWMutex](db, "mmaplock"); mapping != nil {
		mapping.RUnlock()
	}
}

// lockOf returns a lock among the fields of a database, nil if there is none of that type.
func lockOf[L any](db *bbolt.DB, name string) *L {
	field := reflect.ValueOf(db).Elem().FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[L]() {
		return nil
	}
	return (*L)(unsafe.Pointer(field.UnsafeAddr())) //nolint:gosec // the address of a field of that type
}
