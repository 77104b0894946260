// Package directorytest is the conformance suite of package directory: a plugin's tests
// call [Run], and [Memory] is a directory for the tests of other packages. It knows no plugin.
package directorytest
