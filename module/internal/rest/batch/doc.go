// Package batch owns `PATCH /{collection}`: reading its items, putting them together to
// one change for each resource, running the changes a few at a time, and the answer that
// tells item by item what came of them. What a change is to an upstream it does not know.
package batch
