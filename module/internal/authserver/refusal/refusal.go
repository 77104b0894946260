// Package refusal has what checks share when they refuse a request: the error wraps an [oauth.Error], whatever
// surface asked. Each surface (page, JSON response, redirect, poll) writes refusals in its own form, in one function.
// The package knows neither requests nor responses.
package refusal

import (
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// Codes of refusals for the person at the browser. Clients never see them: a surface for programs replaces them by a
// code of the protocol.
const (
	UnknownClient   oauth.Code = "unknown_client"
	Expired         oauth.Code = "expired"
	AlreadyAnswered oauth.Code = "already_answered"
	Forbidden       oauth.Code = "forbidden"
	NotFound        oauth.Code = "not_found"
	TooLarge        oauth.Code = "too_large"
	TooSlow         oauth.Code = "too_slow"
)

// New makes a refusal with a status of its own; description may be empty.
func New(status int, code oauth.Code, description string) *oauth.Error {
	return oauth.E(code, description).WithStatus(status)
}

// Forbid refuses what did not come from one of our pages in this browser.
func Forbid() *oauth.Error { return New(http.StatusForbidden, Forbidden, "") }

// TooMany refuses a request that exceeds a limit; retry is how long the next one has to wait.
func TooMany(retry time.Duration) *oauth.Error {
	return oauth.TooMany("too many requests of this kind, try again later", retry)
}

// Busy refuses a request because something is full for a moment. Unlike [oauth.Unavailable] it is no fault, and has
// no cause to log.
func Busy(retry time.Duration) *oauth.Error {
	e := oauth.Unavailable(nil)
	e.RetryAfter = oauth.Seconds(retry)
	return e
}

// From returns the refusal in an error; ok is false for nil and for technical faults.
func From(err error) (refused *oauth.Error, ok bool) {
	ok = errors.As(err, &refused) && (refused.Status < http.StatusInternalServerError || refused.Cause == nil)
	return refused, ok
}

// OrUnavailable returns an error that wraps an [oauth.Error] as it is, and turns every other one into the answer to a
// technical fault. nil stays nil.
func OrUnavailable(err error) error {
	if err == nil || errors.As(err, new(*oauth.Error)) {
		return err
	}
	return oauth.Unavailable(err)
}

// Limited turns the result of a count, such as lockout.Book.Take, into an error: nil when ok.
func Limited(ok bool, retry time.Duration) error {
	if ok {
		return nil
	}
	return TooMany(retry)
}
