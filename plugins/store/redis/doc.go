// Package redis is the store that several nodes share: one Redis key per record, changed by one script each, an index
// of children, and the feed of the kinds that are watched. As the Caddy module gatehouse.stores.redis it is loaded by
// the gatehouse app. It does not know what the records mean, and keeps nothing of the configuration that opened it.
package redis
