// Package aside owns processes of this program that do work which would hold up the rest
// of it: they are started at the first need, on a processor that is not everybody's, and
// end with the process they belong to. It refuses to know what the work is.
package aside
