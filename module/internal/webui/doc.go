// Package webui owns the pages people see: their HTML, style, texts and the
// headers they are sent with. It shows decided facts and takes no decision: it
// knows no session, client or request, and speaks to no other package of ours.
// The pages work without JavaScript and load nothing from elsewhere.
package webui
