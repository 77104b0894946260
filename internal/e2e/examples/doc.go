// Package examples holds the tests of the examples that need no suite of their own: each is started by its
// run.sh, its README is followed, pages are opened in a browser. It has nothing but tests.
package examples
