package cursorpages

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// One client's request for a page may cause several to the API. No further one is sent beyond
// these bounds.
const (
	// MaxAnswers is how many answers of the API are read for one page.
	MaxAnswers = 50
	maxBytes   = 16 << 20
	maxTime    = 20 * time.Second
	// maxPage is how many bytes the items of the page itself may have.
	maxPage = 8 << 20
)

var (
	errCircle = errors.New("the cursor of the answer leads to the same answer again")
	errNoList = errors.New("the answer has no list")
	errLong   = fmt.Errorf("the page has more than %d bytes", maxPage)
)

// collected is a list, as far as it was read.
type collected struct {
	items []byte // those of the page, separated by commas
	seen  int64  // elements read
	read  int64  // bytes read
	ended bool   // the API has no more
	whole bool   // and the list is complete
}

// Follower follows cursors.
type Follower struct {
	// MaxAnswers is how many answers are read for one page.
	MaxAnswers int
	// Unreadable makes an error of an answer that cannot be translated.
	Unreadable func(*translate.Failure) error
}

// Serve answers a page of a list. up is the request for the first answer.
func (f *Follower) Serve(w http.ResponseWriter, c *operation.Call, up mapping.Upstream, ask operation.Ask) error {
	query, _ := url.ParseQuery(c.Asked.RawQuery) // Request has read it
	caller := answer.Caller{Prefix: c.Prefix, Query: query, Allowed: c.Permits}
	m, q, first, begun := c.Match, up.List, up, time.Now()
	skip, take := q.Window()
	var all collected
	var header http.Header
	var last map[string]string
	personal := false
	for n := 0; !all.ended && n < f.MaxAnswers && all.read < maxBytes && (n == 0 || time.Since(begun) < maxTime); n++ {
		from := max(int64(skip)-all.seen, 0)
		room := max(int64(skip)+int64(take)-max(all.seen, int64(skip)), 0)
		answer, portion := m.Operation.Answers.NewPortion(m.Values, caller, int(from), int(room))
		personal = answer.Personal()
		got := ask(c.Request.Context(), up, answer, maxPage)
		if got.Status >= http.StatusBadRequest {
			return writeFailure(w, m, got)
		}
		if failure := checkAnswer(got.Cut, portion, last); failure != nil {
			return f.Unreadable(failure)
		}
		if header == nil {
			header = got.Header
		}
		if all.add(got.Body, portion); len(all.items) > maxPage {
			return f.Unreadable(&translate.Failure{Kind: translate.Bomb, Err: errLong})
		}
		last = portion.Next
		next, refused := m.Operation.Requests.Next(m.Values, first, portion.Next)
		if refused != nil {
			return f.Unreadable(&translate.Failure{Kind: translate.Cursor, Err: refused})
		}
		up = next
	}
	if !all.ended && all.seen <= int64(skip) {
		return envelope.Invalid("page", "must be a page of the first "+strconv.FormatInt(all.seen, 10)+" items: no more of this list is read, ask for less of it")
	}
	copyFields(w.Header(), header, m)
	if personal {
		w.Header().Add("Vary", "Authorization")
	}
	return all.write(w, c, q, caller)
}

// checkAnswer reports what is wrong with one answer. last is the cursor that led to it.
func checkAnswer(cut bool, portion *answer.Portion, last map[string]string) *translate.Failure {
	switch {
	case cut:
		return &translate.Failure{Kind: translate.Bomb, Err: errLong}
	case portion.Bytes == 0:
		return &translate.Failure{Kind: translate.Missing, Err: errNoList}
	case portion.Err != nil:
		return &translate.Failure{Kind: translate.Cursor, Err: portion.Err}
	case portion.Next != nil && maps.Equal(portion.Next, last):
		return &translate.Failure{Kind: translate.Cursor, Err: errCircle}
	}
	return nil
}

// add takes in the items of one answer, an array.
func (l *collected) add(body []byte, p *answer.Portion) {
	body = bytes.TrimSpace(body)
	if len(body) >= 2 {
		body = bytes.TrimSpace(body[1 : len(body)-1])
	}
	if len(body) > 0 {
		if len(l.items) > 0 {
			l.items = append(l.items, ',')
		}
		l.items = append(l.items, body...)
	}
	l.seen += p.Elements
	l.read += p.Bytes
	l.ended, l.whole = p.Next == nil, p.Complete
}
