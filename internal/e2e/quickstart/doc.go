// Package quickstart holds the tests that drive examples/quickstart as people and
// stock clients do: the shipped files on other ports, the programs as they are built
// for a release, a browser and clients that others wrote. It has nothing but tests.
package quickstart
