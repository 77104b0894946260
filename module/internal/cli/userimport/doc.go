// Package userimport reads users from a CSV or JSON lines file and imports them in batches. It knows neither commands nor
// HTTP. No error or report has a value of the file in it: any field may hold a password.
package userimport
