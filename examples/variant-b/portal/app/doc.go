// Package app is a site whose visitors sign in with a stock WeChat library, goth's: three
// addresses of the library are changed, and nothing else. It keeps who is signed in, and no
// token: it calls nothing in the visitor's name.
package app
