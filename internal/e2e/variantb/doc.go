// Package variantb tests examples/variant-b as its README and people
// use it: the shipped files on other ports and the programs as they are built for a release.
// It contains only tests.
package variantb
