package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/watch"
)

const (
	// streamPatience is how long a line may take to be sent before the watcher is given up.
	streamPatience = 30 * time.Second
	// streamPulse is the time between empty lines while there is nothing to tell.
	streamPulse = 10 * time.Second
	// maxBatch bounds the lines that are sent at once.
	maxBatch = 256
)

// stream is a success whose body never ends by itself.
type stream struct {
	feed    *watch.Feed
	watcher *watch.Watcher
}

func watchDecisions(c *call) (any, error) {
	if given := c.query.Get("refused"); given != "" && given != "true" && given != "false" {
		return nil, badField("refused", "expected true or false")
	}
	filter, err := watch.ParseFilter(c.query)
	if err != nil {
		return nil, badField("status", err.Error())
	}
	w, err := c.Decisions.Subscribe(filter)
	if errors.Is(err, watch.ErrTooMany) {
		return nil, Refuse(http.StatusConflict, "too_many_watchers", strconv.Itoa(watch.MaxWatchers)+" others watch this gateway already, which is the maximum; end one of them")
	}
	if err != nil {
		return nil, err
	}
	return &stream{c.Decisions, w}, nil
}

// write sends decisions until the caller, the admin endpoint or the gateway ends.
func (s *stream) write(w http.ResponseWriter, r *http.Request) {
	defer s.watcher.Close()
	control := http.NewResponseController(w)
	// Caddy's deadline for reading a request would end the context of one that lasts longer.
	_ = control.SetReadDeadline(time.Time{})
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }() // it would stay with the connection
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := &lines{w: w, control: control}
	out.add(watch.Line{Started: time.Now()})
	pulse := time.NewTicker(streamPulse)
	defer pulse.Stop()
	server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	replaced := s.feed.Shutdown(server)
	for end := ""; out.send() && end == ""; {
		select {
		case <-r.Context().Done():
			return
		case <-replaced:
			end = watch.EndReload
		case <-s.feed.Closed():
			end = watch.EndStopping
		case d := <-s.watcher.Decisions():
			out.add(watch.Line{Decision: d})
		case <-pulse.C:
			out.buffer.WriteByte('\n')
		}
		s.addWaiting(out)
		if end != "" {
			out.add(watch.Line{End: end})
		}
	}
}

// addWaiting adds what waits already, and how much was lost before it.
func (s *stream) addWaiting(out *lines) {
	for range maxBatch {
		select {
		case d := <-s.watcher.Decisions():
			out.add(watch.Line{Decision: d})
			continue
		default:
		}
		break
	}
	if n := s.watcher.Lost(); n > 0 {
		out.add(watch.Line{Lost: n})
	}
}

// lines are sent together.
type lines struct {
	w       http.ResponseWriter
	control *http.ResponseController
	buffer  bytes.Buffer
}

func (l *lines) add(line watch.Line) {
	_ = json.NewEncoder(&l.buffer).Encode(line) // a buffer takes everything, and every field can be encoded
}

// send reports whether the caller still takes lines.
func (l *lines) send() bool {
	_ = l.control.SetWriteDeadline(time.Now().Add(streamPatience))
	_, err := l.w.Write(l.buffer.Bytes())
	l.buffer.Reset()
	return err == nil && l.control.Flush() == nil
}
