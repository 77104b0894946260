// Package growth measures what a gateway costs as its configuration and its data grow, from
// outside and on real stores, and prints each result as a row of one table.
package growth
