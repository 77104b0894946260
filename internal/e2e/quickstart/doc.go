// Package quickstart tests examples/quickstart as people and
// stock clients use it: the shipped files on other ports, the programs as they are built
// for a release, a browser and clients that others wrote. It contains only tests.
package quickstart
