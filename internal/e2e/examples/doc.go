// Package examples tests the examples that have no suite of their own: it starts each with its run.sh,
// follows its README, and opens its pages in a browser. It contains only tests.
package examples
