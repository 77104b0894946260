// Package page writes what browsers are answered with besides the pages themselves: errors and
// redirects. It holds the addresses of the pages, which link to one another, and the texts that
// several of them show. It knows neither sessions nor the store; how a page looks belongs to
// webui.
package page
