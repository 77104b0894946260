// Package legacyrest holds the tests that drive examples/legacy-rest as its README and
// clients do: the shipped files on other ports and the programs as they are built for a
// release. It has nothing but tests.
package legacyrest
