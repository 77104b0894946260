// Package splice owns the incremental scanner of JSON: it copies a text as it comes
// and edits it at declared places, in memory that grows with the depth of the text
// and not with its length. It decodes nothing but what it is told to look at, and
// knows nothing of HTTP or of resources.
package splice
