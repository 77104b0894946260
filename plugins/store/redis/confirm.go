package redis

import (
	"context"
	"slices"

	"github.com/gatehouse/gatehouse/module/store"
)

// confirmWrites waits for the replicas to have what this node wrote to a record and was not told to have succeeded.
func (b *Backend) confirmWrites(ctx context.Context, name string) error {
	if b.wait.Replicas == 0 {
		return nil
	}
	since, found := b.unconfirmed.findKey(name)
	if !found {
		return nil
	}
	if err := b.awaitReplicas(ctx, name); err != nil {
		return err
	}
	b.unconfirmed.dropKey(name, since)
	return nil
}

// Confirm implements store.Confirmer.
func (b *Backend) Confirm(ctx context.Context, key store.Key) error {
	if b.wait.Replicas == 0 {
		return nil
	}
	return b.boundedCall(ctx, writes, func(ctx context.Context) error { return b.awaitReplicas(ctx, b.recordKey(key)) })
}

// ConfirmList implements store.Confirmer. The index has every child whose absence is not confirmed, see forgetGone.
func (b *Backend) ConfirmList(ctx context.Context, kind store.Kind, parent string) error {
	if b.wait.Replicas == 0 {
		return nil
	}
	if b.oneScript(kind) {
		return b.Confirm(ctx, store.Key{Kind: kind, ID: parent}) // any key of that server covers all of it
	}
	for after := ""; ; {
		ids, _, err := b.listChildren(ctx, kind, parent, after, readAtOnce)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := b.Confirm(ctx, store.Key{Kind: kind, ID: id}); err != nil {
				return err
			}
		}
		after = ids[len(ids)-1]
	}
}

// awaitReplicas waits for the replicas to have what the primary of a key has.
func (b *Backend) awaitReplicas(ctx context.Context, name string) error {
	_, err := scriptConfirm.RunAndWait(ctx, b.client, b.wait, []string{name})
	return err
}

// forgetGone removes entries of children that have no record. What cannot be removed now is in nobody's way. In a
// cluster that waits for replicas it works in the background, because each absence must be confirmed first: a child that
// a failover brings back must have an entry, and so must one of which ConfirmList is to speak.
func (b *Backend) forgetGone(ctx context.Context, kind store.Kind, parent string, gone []string, young map[string]bool) {
	forget := func(ctx context.Context) {
		_ = b.boundedCall(ctx, writes, func(ctx context.Context) error { return b.forgetChildren(ctx, kind, parent, gone...) })
	}
	if b.wait.Replicas == 0 || b.oneScript(kind) {
		forget(ctx)
		return
	}
	gone = slices.DeleteFunc(gone, func(id string) bool { return young[id] })
	if len(gone) == 0 || b.condition.lastFault() != nil || !b.forgetting.CompareAndSwap(false, true) {
		return
	}
	b.spawn(func(ctx context.Context) {
		defer b.forgetting.Store(false)
		for _, id := range gone {
			if b.Confirm(ctx, store.Key{Kind: kind, ID: id}) != nil {
				return
			}
		}
		forget(ctx)
	})
}
