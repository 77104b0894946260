// Package version owns the versions of an API: how a request says which it wants, by
// path or by Accept, and what a version that is on its way out says in every answer.
package version
