// Package wordpress holds the tests of api_rest in front of Debian's WordPress, with a
// database server and a PHP process of their own. It contains only tests.
package wordpress
