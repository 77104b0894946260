// Package http is the user directory gatehouse.directories.http: an existing login endpoint says who a user is. It
// sends requests to that endpoint and reads its responses, and does not know how the endpoint keeps users.
package http
