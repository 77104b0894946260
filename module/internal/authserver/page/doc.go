// Package page answers browsers: it writes error pages and redirects, and has the paths of the pages and the
// texts that several of them show. It knows neither sessions nor the store; webui renders the HTML.
package page
