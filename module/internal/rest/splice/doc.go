// Package splice edits JSON at declared places while it comes: a scanner finds the tokens, the position in
// the document decides what is to be done with each value, and what is not dropped or replaced passes on.
// Its memory grows with the depth of a text, not with its length. It decodes nothing but what it is told to
// look at, and knows nothing of HTTP or of resources.
package splice
