// Package example runs a folder of examples for tests: a copy on free ports, started by its own run.sh,
// and the shell commands of its README, line by line. It does not know what an example shows.
package example
