// Package legacyrest tests examples/legacy-rest the way its README and
// clients use it: the shipped files on other ports and the programs as they are built for a
// release. It contains only tests.
package legacyrest
