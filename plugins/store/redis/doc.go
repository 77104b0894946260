// Package redis owns the store that many machines share: one Redis key a record, moved by
// one script each, children by an index, and the feed of the kinds that are watched. As
// the Caddy module gatehouse.stores.redis it is a guest of the gatehouse app. It refuses
// to know what the records mean, and holds nothing of the configuration that opened it.
package redis
