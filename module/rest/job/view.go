package job

import (
	"encoding/json"
	"time"
)

// view is what the owner of a job sees.
type view struct {
	ID       string          `json:"id"`
	State    State           `json:"state"`
	Progress *int            `json:"progress"`
	Created  *time.Time      `json:"created_at"`
	Started  *time.Time      `json:"started_at"`
	Finished *time.Time      `json:"finished_at"`
	Result   json.RawMessage `json:"result,omitempty"`
	Omitted  bool            `json:"result_omitted,omitempty"`
	Error    *Failure        `json:"error,omitempty"`
}

// JSON returns the job as its owner sees it: it has `result` if it succeeded, null if there was
// none, and `error` if it failed.
func (j *Job) JSON() []byte {
	v := view{
		ID: j.ID, State: j.State, Progress: j.Progress, Omitted: j.Omitted, Error: j.Failure,
		Created: at(j.Created), Started: at(j.Started), Finished: at(j.Finished),
	}
	if j.State == Succeeded {
		if v.Result = j.Result; v.Result == nil {
			v.Result = json.RawMessage("null")
		}
	}
	b, err := json.Marshal(v)
	if err != nil { // a stored result is valid JSON, because it was read from JSON
		return []byte(`{}`)
	}
	return b
}

func at(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}
