package api

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// failure is an error of the old kind. It goes out with status 200.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

func (f failure) Error() string { return f.Message }

var (
	errNoArticle = failure{"E1004", "No such article", "aid"}
	errNoStudent = failure{"E2004", "No such student", "sid"}
	errNoFriend  = failure{"E2005", "These two are no friends", "fid"}
	errNoUser    = failure{"E0401", "Please log in first", ""}
	errNotPosted = failure{"E0405", "This must be posted", ""}
	errFull      = failure{"E1009", "The database is full", ""}
	errForm      = failure{"E0001", "The form could not be read", ""}

	// errCrash stands for the mistakes that nobody wrote a message for.
	errCrash = errors.New("crash")
)

// reply answers as the script does: a result, a failure, or a crash.
func reply(w http.ResponseWriter, result any, err error) {
	if f, ok := errors.AsType[failure](err); ok {
		writeJSON(w, http.StatusOK, struct {
			Success bool `json:"success"`
			failure
		}{false, f})
		return
	}
	if err != nil {
		crashPage(w)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"success": true, "result": result})
}

// rows is a list as the script gives it: the total is a string, and no rows are null.
type rows[T any] struct {
	List  []T    `json:"list"`
	Total string `json:"total"`
}

func (a *api) script(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch q.Get("mod") {
	case "article":
		a.articleScript(w, r, q)
	case "student":
		a.studentScript(w, r, q)
	case "profile":
		who := caller(r)
		if who.Subject == "" {
			reply(w, nil, errNoUser)
			return
		}
		reply(w, map[string]any{"uid": who.Subject, "app": who.Client, "rights": strings.Join(who.Scopes, ",")}, nil)
	case "import":
		if r.Method != http.MethodPost {
			reply(w, nil, errNotPosted)
			return
		}
		n, err := a.importArticles(w, r)
		reply(w, map[string]any{"imported": n}, err)
	case "":
		plain(w, http.StatusInternalServerError, "no module given")
	default:
		plain(w, http.StatusBadRequest, "unknown module")
	}
}

func (a *api) articleScript(w http.ResponseWriter, r *http.Request, q url.Values) {
	act := q.Get("act")
	if changes := act == "add" || act == "edit" || act == "del"; changes && r.Method != http.MethodPost {
		reply(w, nil, errNotPosted)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	var result any
	var err error
	switch act {
	case "list":
		a.listScript(w, q)
		return
	case "get":
		result, err = withID(q, "aid", errNoArticle, a.shelf.get)
	case "add":
		result, err = a.addScript(r)
	case "edit":
		result, err = a.editScript(r, q)
	case "del":
		_, err = withID(q, "aid", errNoArticle, func(id int) (any, bool) { return nil, a.shelf.remove(id) })
	default:
		plain(w, http.StatusBadRequest, "unknown act")
		return
	}
	reply(w, result, err)
}

// withID reads a number from the query; what is no number crashes.
func withID[T any](q url.Values, name string, missing failure, find func(int) (T, bool)) (T, error) {
	var none T
	id, err := strconv.Atoi(q.Get(name))
	if err != nil {
		return none, errCrash
	}
	v, ok := find(id)
	if !ok {
		return none, missing
	}
	return v, nil
}

func (a *api) listScript(w http.ResponseWriter, q url.Values) {
	lq := query{start: number(q.Get("start"), 0, 1<<30), count: number(q.Get("count"), 20, 200)}
	var direction string
	lq.order, direction, _ = strings.Cut(q.Get("order"), " ")
	lq.descending = strings.EqualFold(direction, "desc")
	switch st := q.Get("st"); st {
	case "":
	case "0", "1":
		state := int(st[0] - '0')
		lq.state = &state
	default:
		// The warning stands before the JSON, as it does where errors are displayed.
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write([]byte("<br />\n<b>Notice</b>:  Undefined index: st in <b>/var/www/legacy/lib/article.php</b> on line <b>64</b><br />\n"))
	}
	list, total := a.shelf.list(lq)
	if len(list) == 0 {
		list = nil
	}
	reply(w, rows[article]{list, strconv.Itoa(total)}, nil)
}

// number reads what it can and takes the default for the rest, without a word.
func number(text string, otherwise, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return otherwise
	}
	return min(n, most)
}

func (a *api) addScript(r *http.Request) (any, error) {
	if err := r.ParseForm(); err != nil {
		return nil, errForm
	}
	who := caller(r)
	n := article{State: 1, Author: who.Subject}
	if n.Author == "" {
		n.Author = who.Client
	}
	if !r.PostForm.Has("subject") {
		return nil, failure{"E1002", "The subject is missing", "subject"}
	}
	if err := fill(&n, r.PostForm); err != nil {
		return nil, err
	}
	n, ok := a.shelf.add(n)
	if !ok {
		return nil, errFull
	}
	return n, nil
}

func (a *api) editScript(r *http.Request, q url.Values) (any, error) {
	if err := r.ParseForm(); err != nil {
		return nil, errForm
	}
	if err := fill(&article{}, r.PostForm); err != nil {
		return nil, err
	}
	return withID(q, "aid", errNoArticle, func(id int) (article, bool) {
		return a.shelf.edit(id, func(n *article) { _ = fill(n, r.PostForm) }) // checked above
	})
}

// fill sets the fields that the form has.
func fill(n *article, form url.Values) error {
	subject, body, tags, state := form.Get("subject"), form.Get("body"), form.Get("tags"), form.Get("state")
	if form.Has("subject") {
		if l := utf8.RuneCountInString(subject); l < 3 || l > maxSubject {
			return failure{"E1002", "The subject must have 3 to 200 characters", "subject"}
		}
		n.Subject = subject
	}
	if form.Has("body") {
		if len(body) > maxBody {
			return failure{"E1003", "The body is too long", "body"}
		}
		n.Body = body
	}
	if form.Has("tags") {
		if len(tags) > maxTags {
			return failure{"E1003", "Too many tags", "tags"}
		}
		n.Tags = tags
	}
	if form.Has("state") {
		if state != "0" && state != "1" {
			return failure{"E1003", "The state must be 0 or 1", "state"}
		}
		n.State = int(state[0] - '0')
	}
	return nil
}

func (a *api) studentScript(w http.ResponseWriter, r *http.Request, q url.Values) {
	find := func(id int) (student, bool) {
		s, ok := a.school.byID[id]
		return s, ok
	}
	if q.Get("act") == "list" {
		reply(w, slice(a.school.all(), q), nil)
		return
	}
	s, err := withID(q, "sid", errNoStudent, find)
	if err != nil {
		reply(w, nil, err)
		return
	}
	switch q.Get("act") {
	case "get":
		reply(w, s, nil)
	case "friends":
		reply(w, slice(a.school.friendsOf(s.ID), q), nil)
	case "unfriend":
		if r.Method != http.MethodPost {
			reply(w, nil, errNotPosted)
			return
		}
		_, err := withID(q, "fid", errNoFriend, func(fid int) (any, bool) { return nil, a.school.unfriend(s.ID, fid) })
		reply(w, nil, err)
	default:
		plain(w, http.StatusBadRequest, "unknown act")
	}
}

func slice(all []student, q url.Values) rows[student] {
	from := min(number(q.Get("start"), 0, students), len(all))
	to := min(from+number(q.Get("count"), 20, students), len(all))
	if from == to {
		return rows[student]{nil, strconv.Itoa(len(all))}
	}
	return rows[student]{all[from:to], strconv.Itoa(len(all))}
}
