// Package signout ends what users have: everything of a user, one grant, or all that was allowed
// to a client. It knows neither HTTP nor who asks for it.
package signout
