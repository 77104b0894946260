// Package pages answers a page of a list that the API gives in parts with cursors: it follows the
// cursors, collects the items of the page and writes them as one list. It knows nothing of how
// the API is reached.
package pages
