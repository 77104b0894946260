package api

import (
	"fmt"
	"net/http"
)

func page(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
	w.WriteHeader(status)
	fmt.Fprint(w, text)
}

func notFoundPage(w http.ResponseWriter, _ *http.Request) {
	page(w, http.StatusNotFound, `<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">
<html><head><title>404 Not Found</title></head>
<body><h1>Not Found</h1><p>The requested URL was not found on this server.</p><hr><address>Legacy/1.3 Server</address></body></html>
`)
}

// crashPage tells strangers what such servers told them: paths, a database's address
// and the way through the code. A gateway must let none of it out.
func crashPage(w http.ResponseWriter) {
	page(w, http.StatusInternalServerError, `<br />
<b>Fatal error</b>:  Uncaught TypeError: intval_strict(): Argument #1 must be numeric in /var/www/legacy/lib/article.php:217
Stack trace:
#0 /var/www/legacy/lib/article.php(98): Article-&gt;load('...')
#1 /var/www/legacy/lib/db.php(41): Db-&gt;query('SELECT * FROM cms_article WHERE aid=...', 'mysql://cms@10.0.3.7/cms')
#2 /var/www/legacy/api.php(23): dispatch('article', 'get')
#3 {main}
  thrown in <b>/var/www/legacy/lib/article.php</b> on line <b>217</b><br />
`)
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}
