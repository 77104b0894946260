// Package watch hands the decisions of a gateway to operators who watch them live, and costs nothing while
// nobody does. It knows the form of a decision and of its transmission, and no handlers.
package watch
