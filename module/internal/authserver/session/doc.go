// Package session knows browsers: the cookie that ties forms to the browser they were made for, and the sessions of
// signed-in users. It does not know how users sign in.
package session
