package job

import (
	"context"
	"net/http"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// checkRoom refuses the job of a mark if it does not fit into the queue, which may contain it
// already.
//
// A client has per_client places. One of its users may take as many of them as are then left to the others: otherwise a
// single user could exclude everybody else from an application. Callers without a token are distinguished by their address:
// each has at most per_client places, all together half of the queue (or per_client, if that is
// more), and a third of that is reserved for callers without a job. Otherwise a single address
// could exclude everybody else.
func (q *Queue) checkRoom(ctx context.Context, of mark) (*envelope.Refusal, error) {
	marks, err := q.listMarks(ctx, q.Config.Queue+1)
	if err != nil {
		return nil, err
	}
	all, own, user := 1, 1, 1
	var strangers []string
	for _, m := range marks {
		if m.ID == of.ID {
			continue
		}
		all++
		if m.Client == of.Client && m.From == of.From {
			own++
			if m.User == of.User {
				user++
			}
		}
		if m.Client == "" {
			strangers = append(strangers, m.From)
		}
	}
	switch {
	case all > q.Config.Queue:
		return full(), nil
	case own > q.PerClient, of.User != "" && user > 1 && user > q.PerClient-own:
		return greedy(), nil
	case of.Client == "" && !q.fitsStranger(strangers, of.From):
		if own > 1 {
			return greedy(), nil
		}
		return full(), nil
	}
	return nil, nil
}

// fitsStranger reports whether there is a place for a caller without a token in addition to the
// others.
func (q *Queue) fitsStranger(strangers []string, from string) bool {
	most := max(q.PerClient, q.Config.Queue/2)
	return len(strangers) < most && q.Fair((2*most+2)/3, strangers, from)
}

func full() *envelope.Refusal {
	return later(http.StatusServiceUnavailable, "too many jobs wait: Retry-After says when to try again")
}

func greedy() *envelope.Refusal {
	return later(http.StatusTooManyRequests, "too many jobs of this client, or of its user, are not finished")
}

func later(status int, message string) *envelope.Refusal {
	r := envelope.Refuse(status, message)
	r.Header = http.Header{"Retry-After": {"10"}}
	return r
}
