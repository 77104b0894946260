package job

import "slices"

// State is the state of a job.
type State string

// The states of a job. The last three are final.
const (
	Queued    State = "queued"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// States lists all states and their successors.
var States = []struct {
	State State
	Next  []State
}{
	{Queued, []State{Running, Failed, Cancelled}},
	{Running, []State{Queued, Succeeded, Failed, Cancelled}},
	{Succeeded, nil},
	{Failed, nil},
	{Cancelled, nil},
}

// Final reports whether the state has no successor.
func (s State) Final() bool { return len(next(s)) == 0 }

func next(s State) []State {
	for _, e := range States {
		if e.State == s {
			return e.Next
		}
	}
	return nil
}

func (s State) may(to State) bool { return slices.Contains(next(s), to) }

// Code says why a job failed if the upstream did not say it. The set is closed.
type Code string

// The codes of failures.
const (
	Interrupted     Code = "interrupted"
	Timeout         Code = "timeout"
	UpstreamFailed  Code = "upstream_error"
	Undeclared      Code = "undeclared"
	AccessEnded     Code = "access_ended"
	FileForbidden   Code = "file_forbidden"
	FileUnreachable Code = "file_unreachable"
	FileRefused     Code = "file_refused"
	FileRedirects   Code = "file_redirects"
	FileTooLarge    Code = "file_too_large"
	FileTimeout     Code = "file_timeout"
	FileIncomplete  Code = "file_incomplete"
	FileEncoded     Code = "file_encoded"
)

// Codes lists all codes with their messages.
var Codes = []struct {
	Code    Code
	Message string
}{
	{Interrupted, "the gateway was interrupted while the job ran: whether the upstream did it is not known"},
	{Timeout, "the upstream took too long: whether it did the job is not known"},
	{UpstreamFailed, "the service behind the gateway failed"},
	{Undeclared, "jobs of this kind are no longer run"},
	{AccessEnded, "what permitted the job was ended before the job began"},
	{FileForbidden, "the file is at an address that is not fetched from"},
	{FileUnreachable, "the file's server cannot be reached"},
	{FileRefused, "the file's server does not give the file"},
	{FileRedirects, "the file's server redirects too often, or to an address that is not https"},
	{FileTooLarge, "the file is too large"},
	{FileTimeout, "the file's server took too long"},
	{FileIncomplete, "the file ended before its time"},
	{FileEncoded, "the file's server sends it compressed although this was not asked for"},
}

// Failure returns the failure with a code.
func (c Code) Failure() *Failure {
	f := &Failure{Code: string(c)}
	for _, e := range Codes {
		if e.Code == c {
			f.Message = e.Message
		}
	}
	return f
}
