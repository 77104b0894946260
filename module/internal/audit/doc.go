// Package audit defines the events of the audit trail and their fields. It does not know
// where events go: callers record them with a [Sink].
package audit
