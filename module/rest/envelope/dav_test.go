package envelope_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

func TestErrorDocumentsOfWebDAVPass(t *testing.T) {
	const token = `<?xml version="1.0" encoding="utf-8"?><D:error xmlns:D="DAV:"><D:valid-sync-token/></D:error>`
	for name, c := range map[string]struct {
		status      int
		media, body string
		passes      bool
	}{
		"a precondition":        {403, "application/xml; charset=utf-8", token, true},
		"the same as text":      {409, "text/xml", `<error xmlns="DAV:"><lock-token-matches-request-uri/></error>` + "\n", true},
		"one of CalDAV":         {403, "application/xml", `<error xmlns="DAV:"><c:valid-calendar-data xmlns:c="urn:ietf:params:xml:ns:caldav"/></error>`, true},
		"with a message":        {403, "application/xml", `<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:exception>Sabre\DAV\Exception\InvalidSyncToken</s:exception><s:message>Invalid or unknown sync token</s:message><d:valid-sync-token/></d:error>`, true},
		"with a path":           {423, "application/xml", `<error xmlns="DAV:"><lock-token-submitted><href>/docs/1</href></lock-token-submitted></error>`, true},
		"no room":               {507, "application/xml", `<error xmlns="DAV:"><quota-not-exceeded/></error>`, true},
		"of a fault":            {500, "application/xml", token, false},
		"with a stack trace":    {403, "application/xml", `<d:error xmlns:d="DAV:"><d:x/><s:stacktrace xmlns:s="http://sabredav.org/ns">#0 a</s:stacktrace></d:error>`, false},
		"with a file":           {403, "application/xml", `<d:error xmlns:d="DAV:"><d:x>/var/www/x</d:x></d:error>`, false},
		"with a hidden file":    {403, "application/xml", `<d:error xmlns:d="DAV:"><d:x>&#47;var/www/x</d:x></d:error>`, false},
		"in a comment":          {403, "application/xml", `<error xmlns="DAV:"><!-- x --></error>`, false},
		"with a document type":  {403, "application/xml", `<!DOCTYPE error><error xmlns="DAV:"/>`, false},
		"of another namespace":  {403, "application/xml", `<error xmlns="urn:x"><a/></error>`, false},
		"without one":           {403, "application/xml", `<error/>`, false},
		"another element":       {403, "application/xml", `<multistatus xmlns="DAV:"/>`, false},
		"two of them":           {403, "application/xml", `<error xmlns="DAV:"/><error xmlns="DAV:"/>`, false},
		"text behind it":        {403, "application/xml", `<error xmlns="DAV:"/>x`, false},
		"cut off":               {403, "application/xml", `<error xmlns="DAV:">`, false},
		"in another encoding":   {403, "application/xml", `<?xml version="1.0" encoding="utf-7"?><error xmlns="DAV:"/>`, false},
		"labelled in another":   {403, "application/xml; charset=utf-16le", "<\x00e\x00r\x00r\x00o\x00r\x00/\x00>\x00", false},
		"labelled HTML":         {403, "text/html", token, false},
		"with a stylesheet":     {403, "application/xml", `<?xml-stylesheet href="x"?><error xmlns="DAV:"/>`, false},
		"longer than a message": {403, "application/xml", `<error xmlns="DAV:">` + strings.Repeat("<a/>", 2048) + `</error>`, false},
		"longer than is read":   {403, "application/xml", `<error xmlns="DAV:"/>` + strings.Repeat(" ", 65<<10), false},
	} {
		rec := httptest.NewRecorder()
		r := httptest.NewRequest("REPORT", "/calendars/1", nil)
		w := envelope.NewWriter(rec, r, &envelope.Config{})
		w.Header().Set("Content-Type", c.media)
		w.WriteHeader(c.status)
		_, _ = io.WriteString(w, c.body)
		w.Finish()
		if got := rec.Body.String(); rec.Code != c.status || (got == c.body && rec.Header().Get("Content-Type") == c.media) != c.passes {
			t.Errorf("%s: %d %v %s", name, rec.Code, rec.Header(), got)
		}
	}
	for _, accept := range []string{"application/problem+json", "application/problem+json, */*;q=0.1"} {
		rec := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", accept)
		w := envelope.NewWriter(rec, r, &envelope.Config{ProblemJSON: true})
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, token)
		if w.Finish(); rec.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %v %s", accept, rec.Header(), rec.Body)
		}
	}
}
