// Package example owns how tests run a folder of examples: a copy on free ports, started by
// its own run.sh as people start it, and the shell in its README, line by line. It refuses to
// know what an example shows.
package example
