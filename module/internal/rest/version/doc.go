// Package version selects the version of an API that a request is for, by path or by Accept, and marks
// responses of versions that are being retired.
package version
