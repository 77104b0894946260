package app

import (
	_ "embed"
	"html/template"
	"net/http"
)

var (
	//go:embed page.html
	pageText string
	//go:embed style.css
	styleText string

	page = template.Must(template.New("page").Parse(pageText))
)

// view is what a page shows.
type view struct {
	Title, Text string
	Sorry       bool     // something did not work; Text says what
	Visitor     *visitor // nil: nobody is signed in
}

func (a *App) home(w http.ResponseWriter, r *http.Request) {
	v := view{Title: "Lantern Teahouse", Visitor: a.sessions.User(r)}
	show(w, http.StatusOK, v)
}

func sorry(w http.ResponseWriter, status int, title, text string) {
	show(w, status, view{Title: title, Text: text, Sorry: true})
}

func show(w http.ResponseWriter, status int, v view) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Execute(w, v) // the visitor has gone: there is nobody to tell
}
