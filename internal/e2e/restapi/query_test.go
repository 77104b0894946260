package restapi

import (
	"net/url"
	"testing"
)

// queryWords are resources whose requests have a query of the gateway's.
const queryWords = `
	resource books {
		upstream GET /books /odata/Books
		list {
			filter q=$search
			send page offset $skip
			send limit $top
			items /value
		}
		send fixed "$filter=owner eq 'me'"
	}
	resource titles {
		upstream GET /titles/{title:[^/]+} /titles?q=%7B%22title%22:%22{title}%22%7D
	}
	resource disks {
		upstream GET /disks/{title:[^/]+} /disks?q=%7B%22path%22:%22C:%5C%5C%22,%22title%22:%22{title}%22%7D
	}
	resource files {
		upstream POST /files/{title:[^/]+}/add "/_api/web/folder/Files/add(url='in/{title}',overwrite=false)"
	}
	resource docs {
		upstream GET /docs/{id:[^/]+} POST /solr/select as form "q=owner:\"me\" AND id:\"{id}\"" wt=json
		upstream POST /docs/{id:[^/]+}/open /open as json "/where/q=owner eq 'me' and id eq '{id}'"
	}
	resource tenants {
		send fixed "$filter=tenant eq '{http.request.header.X-Tenant}'"
	}
	resource plain {
		send fixed ownerId=me meta.role=user filter[where][owner]=me
	}
	resource declared {
		query meta.x ownerId.by
		send fixed ownerId=me
	}
`

// R11: OData and others read queries by RFC 3986, to which a plus is no blank.
func TestQueriesOfTheGatewayHaveNoPlusForABlank(t *testing.T) {
	r, u := startPlaced(t, says("application/json", `{"id":1,"value":[]}`), queryWords)
	for _, c := range []struct{ path, query string }{
		{"/books?q=Book%201", "%24search=Book%201&%24skip=0&%24top=20&%24filter=owner%20eq%20%27me%27"},
		{"/titles/T%20%272%27", "q=%7B%22title%22:%22T%20%272%27%22%7D"},
		{"/disks/T%20%272%27", "q=%7B%22path%22:%22C:%5C%5C%22,%22title%22:%22T%20%272%27%22%7D"},
		{"/plain/1?a=b%20c&d=e%2Bf", "a=b%20c&d=e%2Bf&ownerId=me&meta.role=user&filter%5Bwhere%5D%5Bowner%5D=me"},
		{"/plain/1?filter[limit]=2&meta.x=1", "filter%5Blimit%5D=2&meta.x=1&ownerId=me&meta.role=user&filter%5Bwhere%5D%5Bowner%5D=me"},
		{"/declared/1?ownerId.by=x", "ownerId.by=x&ownerId=me"},
		{"/declared/1?meta.x=", "meta.x=&ownerId=me"}, {"/declared/1?meta.x&ownerId.by=x", "meta.x=&ownerId.by=x&ownerId=me"}, // as STYLES= of WMS
	} {
		p := r.do("reader", "GET", c.path, "")
		if p.Status != 200 {
			t.Errorf("%s: %d %s", c.path, p.Status, p.Body)
			continue
		}
		if hit, _ := u.last(t); hit.URL.RawQuery != c.query {
			t.Errorf("%s: %s, want %s", c.path, hit.URL.RawQuery, c.query)
		}
	}
}

// R11: a value is escaped for the form or JSON that it is in, not for the query that the API reads from the text.
func TestValuesEndNoQuotesInBodies(t *testing.T) {
	r, u := startPlaced(t, says("application/json", `{"id":1}`), queryWords)
	for _, c := range []struct{ method, path, sent string }{
		{"GET", "/docs/it's", "q=owner%3A%22me%22+AND+id%3A%22it%27s%22&wt=json"},
		{"POST", "/docs/say%20%22x%22/open", `{"where":{"q":"owner eq 'me' and id eq 'say \"x\"'"}}`},
	} {
		p := r.do("writer", c.method, c.path, "")
		if _, body := u.last(t); p.Status >= 300 || body != c.sent {
			t.Errorf("%s: %d, sent %s", c.path, p.Status, body)
		}
	}
	u.Hits()
	wantError(t, r.do("reader", "GET", "/docs/x%22%20OR%20owner:%22bob", ""), 404, "not_found", "")
	wantError(t, r.do("writer", "POST", "/docs/x'%20or%20owner%20eq%20'bob/open", ""), 404, "not_found", "")
	if n := len(u.Hits()); n > 0 {
		t.Errorf("%d requests reached the API", n)
	}
}

// R11: a header field is the client's, also where the gateway places it.
func TestHeaderFieldsEndNoQuotesOfAFixedParameter(t *testing.T) {
	r, u := startPlaced(t, says("application/json", `{"id":1}`), queryWords)
	p := r.do("reader", "GET", "/tenants/1", "", "X-Tenant", `a "b"`)
	if hit, _ := u.last(t); p.Status != 200 || hit.URL.Query().Get("$filter") != `tenant eq 'a "b"'` {
		t.Errorf("%d %s", p.Status, hit.URL.RawQuery)
	}
	u.Hits()
	wantError(t, r.do("reader", "GET", "/tenants/1", "", "X-Tenant", "a' or tenant ne 'a"), 403, "forbidden", "")
	if n := len(u.Hits()); n > 0 {
		t.Errorf("%d requests reached the API", n)
	}
}

// R11: qs and others take dots and brackets in the names of a query for steps into an object.
func TestClientCannotSendAPartOfAGatewayParameter(t *testing.T) {
	r, u := startPlaced(t, says("application/json", `{"id":1}`), queryWords)
	for _, name := range []string{
		"ownerId[0]", "ownerId.0", "ownerId.x.y", "users.ownerId", "ownerId__in", "meta", "meta[role]", "meta[x]", "meta.role", "meta.role.0",
		"filter", "filter[where]", "filter[where][owner]", "filter[where][owner][inq][0]", "filter.where.owner",
	} {
		wantError(t, r.do("reader", "GET", "/plain/1?"+url.QueryEscape(name)+"=other", ""), 400, "invalid_parameter", name)
	}
	wantError(t, r.do("reader", "GET", "/declared/1?ownerId.0=other", ""), 400, "invalid_parameter", "ownerId.0")
	wantError(t, r.do("reader", "GET", "/books?q=", ""), 400, "invalid_parameter", "q") // a filter
	for _, path := range []string{"/titles/T2%22,%22owner%22:%22other", "/disks/T2%22,%22owner%22:%22other"} {
		wantError(t, r.do("reader", "GET", path, ""), 404, "not_found", "")
	}
	wantError(t, r.do("writer", "POST", "/files/x',overwrite=true,z='y/add", ""), 404, "not_found", "")
	if n := len(u.Hits()); n > 0 {
		t.Errorf("%d requests reached the API", n)
	}
}
