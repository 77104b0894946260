package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// user is whoever the gateway says is calling.
type user struct {
	Subject string   `json:"subject"`
	Client  string   `json:"client"`
	Scopes  []string `json:"scopes"`
}

func caller(r *http.Request) user {
	return user{r.Header.Get("X-Auth-Subject"), r.Header.Get("X-Auth-Client"), strings.Fields(r.Header.Get("X-Auth-Scopes"))}
}

// prettyArticle is an article as the newer paths show it.
type prettyArticle struct {
	ID      int      `json:"id"`
	Title   string   `json:"title"`
	Body    string   `json:"body"`
	Tags    []string `json:"tags"`
	State   string   `json:"state"`
	Created string   `json:"created_at"`
}

func pretty(a article) prettyArticle {
	p := prettyArticle{a.ID, a.Subject, a.Body, []string{}, "draft", time.Unix(a.Created, 0).UTC().Format(time.RFC3339)}
	if a.Tags != "" {
		p.Tags = strings.Split(a.Tags, ",")
	}
	if a.State == 1 {
		p.State = "published"
	}
	return p
}

func refuse(w http.ResponseWriter, status int, code, message string, field any) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"code": code, "message": message, "field": field}})
}

// articles lists what is published, newest first.
func (a *api) articles(w http.ResponseWriter, r *http.Request) {
	at := map[string]int{"page": 1, "limit": 20}
	for field, most := range map[string]int{"page": 1_000_000, "limit": 100} {
		if text := r.URL.Query().Get(field); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > most {
				refuse(w, http.StatusBadRequest, "invalid_parameter", field+" must be a number from 1 to "+strconv.Itoa(most), field)
				return
			}
			at[field] = n
		}
	}
	published := 1
	list, total := a.shelf.list(query{state: &published, order: "ctime", descending: true, start: (at["page"] - 1) * at["limit"], count: at["limit"]})
	data := make([]prettyArticle, 0, len(list))
	for _, n := range list {
		data = append(data, pretty(n))
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": data, "pagination": map[string]int{
		"total": total, "page": at["page"], "limit": at["limit"], "total_pages": (total + at["limit"] - 1) / at["limit"],
	}})
}

func (a *api) article(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	n, ok := a.shelf.get(id)
	if err != nil || !ok || n.State != 1 {
		refuse(w, http.StatusNotFound, "not_found", "There is no such article.", nil)
		return
	}
	writeJSON(w, http.StatusOK, pretty(n))
}

func (a *api) profile(w http.ResponseWriter, r *http.Request) {
	who := caller(r)
	if who.Subject == "" {
		refuse(w, http.StatusUnauthorized, "unauthorized", "Nobody is signed in.", nil)
		return
	}
	writeJSON(w, http.StatusOK, who)
}

func (a *api) importNow(w http.ResponseWriter, r *http.Request) {
	n, err := a.importArticles(w, r)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "import_failed", "The file could not be imported.", nil)
		return
	}
	writeJSON(w, http.StatusOK, map[string]int{"imported": n})
}
