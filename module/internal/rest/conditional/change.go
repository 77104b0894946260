package conditional

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/etag"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// failedCondition is the refusal of a request whose conditions do not hold.
func failedCondition() *envelope.Refusal {
	return envelope.Refuse(http.StatusPreconditionFailed, "the resource is not, or no longer, as the condition says")
}

// change carries out a change of a resource if the conditions of the request hold. To know that,
// it reads the resource first. The API is sent the condition in its own words too, since somebody
// else may change the resource in between.
func (t *Tags) change(reader Reader, next operation.Handler) operation.Handler {
	return func(w http.ResponseWriter, c *operation.Call) error {
		conditions, refused := etag.Parse(c.Request.Header)
		if refused != nil {
			return refused
		}
		since, dated := unmodifiedSince(c.Request.Header)
		bare := withoutConditions(c)
		w = responsewriter.OnHeader(w, func(h http.Header) { h.Del("Etag") }) // the API's; the next GET has ours
		if !conditions.Any() && !dated {
			return next(w, bare)
		}
		up, refused := c.Match.Request(bare.Asked)
		if refused != nil {
			return refused
		}
		read, _, _ := c.Table.Match(http.MethodGet, c.Path)
		if read.Operation == nil {
			return envelope.Refuse(http.StatusPreconditionFailed, "nothing can be read here that the condition could be about")
		}
		if conditions.HaveTags() {
			if err := reader.Permit(); err != nil {
				return err
			}
		}
		if err := reader.Charge(w); err != nil {
			return err
		}
		maker, err := t.maker(c, read)
		if err != nil {
			return err
		}
		now, err := t.current(c, read, reader, maker)
		if err != nil {
			return err
		}
		conditions.Match, conditions.NoneMatch = maker.Renew(conditions.Match), maker.Renew(conditions.NoneMatch)
		if !conditions.Hold(now.Current) || dated && !conditions.HasMatch && now.modified.After(since) {
			return now.failed(conditions)
		}
		if now.at != address(up) {
			return next(w, bare)
		}
		name, value := now.condition(conditions)
		if name != "" {
			bare.OnRequest = func(r *http.Request) { r.Header.Set(name, value) }
		}
		if now.weak != "" && (name == "" || name == "If-Unmodified-Since") {
			return t.sendOnDemand(w, bare, now.weak, next)
		}
		return next(w, bare)
	}
}

// state is the current state of a resource.
type state struct {
	etag.Current
	modified time.Time
	tags     bool   // the API gives tags: `*` matches them
	date     string // modified as the API writes it, "" for none
	theirs   string // its strong tag at the API, "" for none
	weak     string // its weak tag there, "" for none
	at       string // the address where the API was asked for it, "" if that was a POST
	long     bool   // no strong tag can be made of its body
}

// condition is the header field that makes the API carry out a change only in this state, as far as the
// conditions of the client ask for that. It is "" where nothing can be said in the words of the API.
func (s *state) condition(c etag.Conditions) (name, value string) {
	switch {
	case !s.Exists && c.HasNoneMatch && c.NoneMatch.Any:
		return "If-None-Match", "*"
	case s.Exists && c.HasMatch && c.Match.Any && !c.HasNoneMatch:
		if s.tags {
			return "If-Match", "*"
		}
	case s.theirs != "":
		return "If-Match", s.theirs
	case s.date != "" && !c.Any(): // not for tags: an API that compares parts of a second with its own date would refuse them for ever
		return "If-Unmodified-Since", s.date
	}
	return "", ""
}

// failed is the refusal of a request whose conditions do not hold. Where none with a tag ever could, it says so.
func (s *state) failed(c etag.Conditions) *envelope.Refusal {
	if c.HasMatch && !c.Match.Any && s.long && !s.strong() {
		return envelope.Refuse(http.StatusPreconditionFailed, neverMatches)
	}
	return failedCondition()
}

// strong reports whether the resource has a tag that If-Match can hold with.
func (s *state) strong() bool { return s.Tagged && !s.Tag.Weak }

const neverMatches = "If-Match cannot hold here: the resource is longer than 256 KiB and has no strong tag"

func address(up mapping.Upstream) string { return up.Path + "?" + up.RawQuery }

// unmodifiedSince reads If-Unmodified-Since; what is no date is ignored (RFC 9110 section 13.1.4).
func unmodifiedSince(h http.Header) (time.Time, bool) {
	at, err := http.ParseTime(h.Get("If-Unmodified-Since"))
	return at, err == nil
}

// current reads a resource as this client would, and derives its tag.
func (t *Tags) current(c *operation.Call, m routes.Match, reader Reader, maker *etag.Maker) (now state, err error) {
	up, refused := c.Upstream(m, mapping.Asked{Header: make(http.Header)})
	if refused != nil {
		return now, envelope.Fail(refused.Status, refused.Code, refused.Message, refused)
	}
	for _, name := range append([]string{"Idempotency-Key", "Prefer", "Content-Type", "Content-Encoding"}, etag.Fields...) {
		if _, ours := up.Set[name]; !ours { // an API that is asked with a body needs the type of it
			up.Set[name] = nil
		}
	}
	theirs, date := "", ""
	own := *c
	if !m.Operation.Requests.ReadsByPost() {
		now.at = address(up)
		own.OnAnswer = func(h http.Header) { theirs, date = h.Get("Etag"), h.Get("Last-Modified") }
	}
	got := reader.Ask(&own, m)(c.Request.Context(), up, m.Answer(up, answer.Caller{Prefix: c.Prefix, Allowed: c.Permits}), maxTagged)
	switch {
	case got.Status == http.StatusNotFound || got.Status == http.StatusGone:
		return now, nil
	case got.Status > 299:
		var told struct {
			Error struct{ Code, Message string }
		}
		_ = json.Unmarshal(got.Body, &told) // otherwise the client is told what the status says
		return now, envelope.Fail(got.Status, told.Error.Code, told.Error.Message, errUnread)
	}
	now.Exists = true
	now.modified, _ = http.ParseTime(got.Header.Get("Last-Modified"))
	if _, err := http.ParseTime(date); err == nil {
		now.date = date
	}
	now.long = got.Cut
	now.tags = theirs != ""
	if their, ok := etag.ParseTag(theirs); ok && their.Weak {
		now.weak = theirs
	} else if ok {
		now.theirs = theirs
	}
	now.Tag, now.Tagged = maker.Derive(theirs)
	if !now.strong() && got.Status == http.StatusOK && !got.Cut {
		now.Tag, now.Tagged = etag.OfBody(got.Body), true
	}
	return now, nil
}

var errUnread = errors.New("the resource that a condition is about could not be read")

// Untagged returns a call of a resource that declares no tags as the API may see it. Where answers
// are translated, clients have never seen a tag: no condition on one can hold, and the API must not
// compare it with tags of its own.
func Untagged(c *operation.Call) (*operation.Call, *envelope.Refusal) {
	if c.Match.Operation.Method == http.MethodGet || len(c.Request.Header["If-Match"]) == 0 && len(c.Request.Header["If-None-Match"]) == 0 {
		return c, nil
	}
	read, _, _ := c.Table.Match(http.MethodGet, c.Path)
	if read.Operation == nil || !read.Operation.Answers.Translates() {
		return c, nil
	}
	conditions, refused := etag.Parse(c.Request.Header)
	switch {
	case refused != nil:
		return nil, refused
	case conditions.HasMatch && !conditions.Match.Any:
		return nil, failedCondition()
	case conditions.HasNoneMatch && !conditions.NoneMatch.Any:
		bare := *c
		bare.Request = c.Request.WithContext(c.Request.Context())
		bare.Request.Header = c.Request.Header.Clone()
		delete(bare.Request.Header, "If-None-Match")
		return &bare, nil
	}
	return c, nil
}
