// Package session knows browsers: the cookie that ties forms to the browser they were made for,
// and the sessions of users who are signed in. It knows neither how users sign in nor what
// they are asked.
package session
