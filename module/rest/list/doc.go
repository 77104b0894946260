// Package list handles the parameters of lists and how a list reports its position: page, limit, sort,
// state and filters, the upstream's parameters for them, the total, the pagination object and the
// Link header. It reads no responses and no JSON.
package list
