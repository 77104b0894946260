// Package directorytest holds every user directory to the contract of package
// directory: [Run] is the conformance suite that a plugin's tests call, [Memory]
// a directory for the tests of other packages. It knows no plugin.
package directorytest
