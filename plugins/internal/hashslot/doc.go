// Package hashslot computes in which slot of a Redis Cluster a key is, and which keys are spread over the slots
// evenly. It does not know which server holds a slot.
package hashslot
