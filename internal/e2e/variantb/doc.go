// Package variantb holds the tests that drive examples/variant-b as its README and people
// do: the shipped files on other ports and the programs as they are built for a release.
// It has nothing but tests.
package variantb
