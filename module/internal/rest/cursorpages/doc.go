// Package cursorpages answers a request for a numbered page of a list that the API serves by cursor: it
// follows the cursors, collects the items of the page and writes them as one list. It does not know
// how the API is reached. The pagination object and the Link header come from package list.
package cursorpages
