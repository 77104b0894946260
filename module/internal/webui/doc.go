// Package webui renders the pages that people see: their HTML, style, texts and headers. It
// displays what other packages have decided: it knows no session, client or request, and imports
// no other package of Gatehouse. The pages work without JavaScript and load nothing from
// elsewhere.
package webui
