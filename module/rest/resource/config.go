package resource

import (
	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Resource is a collection and its items, or a single document without items.
type Resource struct {
	// The path without a leading slash: `articles`, `students/{id}/friends`. For a nested resource,
	// the part that follows its parent's item: `friends`.
	Path string `json:"path"`
	// Which request goes to the upstream for each of the client's. Default: GET and POST of the
	// collection, and GET, PUT, PATCH and DELETE of its items, to the same path.
	Routes []Route `json:"routes,omitempty"`
	// How the collection is listed. Default: a response to GET of the collection that is an array, or
	// an object with a total and an array, becomes a page with `data` and `pagination`; other
	// responses keep their form.
	List *list.Config `json:"list,omitempty"`
	// JSON Pointer to the resource in the upstream's response. Default: the whole response.
	Item string `json:"item,omitempty"`
	// The same for one kind of operation, where its responses differ: `read`, `create`, `replace`,
	// `update`, `delete` or `action`. An empty pointer is the whole response, which is not searched then. Default: `item`.
	ItemOf map[Kind]string `json:"item_of,omitempty"`
	// JSON Pointer to the id in a resource, by the upstream's names. Default: `/id`.
	ID string `json:"id,omitempty"`
	// Members by the names clients see, and the upstream's names for them, in responses and bodies
	// alike. A name must not contain a slash: write such a member as a pointer in `lift`, `/b~1c`.
	// Default: none.
	Rename map[string]string `json:"rename,omitempty"`
	// Members by the names clients see, and JSON Pointers to their places inside the upstream's
	// resource: `/title/rendered`. If there is nothing at that place, the response has no such member.
	// Bodies must not contain these members, unless `rename` says what the upstream calls them there.
	// A pointer to a member of the resource itself, `/name`, renames it in responses and bodies, or in
	// responses only if `rename` has another name for bodies. Values inside a member that is also in
	// `drop` are streamed; for others a resource may have 1 MiB. Default: none.
	Lift map[string]string `json:"lift,omitempty"`
	// Members of the upstream's resource that are withheld from clients, by the upstream's names, or
	// JSON Pointers to nested ones. Default: none.
	Drop []string `json:"drop,omitempty"`
	// The member in which the upstream expects a body's members: `article` for `{"article":{...}}`,
	// and `article[title]` in a form. Default: none.
	Wrap string `json:"wrap,omitempty"`
	// Values that clients see, and the upstream's values for them, by member (the name that clients
	// see). A body with any other value is refused; in a response it stays as it is. Default: any
	// value.
	Values map[string]map[string]string `json:"values,omitempty"`
	// The members that a PUT must contain, by the names clients see. Default: none in particular.
	Replace []string `json:"replace,omitempty"`
	// The response to every successful POST of the collection. Default: 201 instead of the upstream's
	// 200, 203, 204 or 205 if the response is JSON, plain text or empty, with `Location` if it
	// contains the resource's id or address.
	Created *Created `json:"created,omitempty"`
	// The status of every successful DELETE, without a body: `204`. Default: 204 instead of the
	// upstream's 200, 203 or 205 if the response is JSON, plain text or empty.
	Deleted int `json:"deleted,omitempty"`
	// The links that each resource contains. Default: none.
	Links []link.Link `json:"links,omitempty"`
	// The members that a PATCH of the collection may change. Default: any, if a PATCH of single items
	// is declared.
	Batch []string `json:"batch,omitempty"`
	// The maximum number of items in such a PATCH, up to 1000. Default: 100.
	BatchMax int `json:"batch_max,omitempty"`
	// Constraints on the members of bodies. Default: none.
	Validate []validate.Rule `json:"validate,omitempty"`
	// A schema for bodies, in addition to `validate`. Default: none.
	Schema *validate.Schema `json:"schema,omitempty"`
	// Honours `Idempotency-Key` in POST requests.
	Idempotency bool `json:"idempotency,omitempty"`
	// Adds an ETag to responses, and honours conditional requests.
	ETag bool `json:"etag,omitempty"`
	// Query parameters that operations other than lists pass on. Default: all if the resource does not
	// declare what the upstream's requests and responses look like, otherwise none.
	Query []list.Name `json:"query,omitempty"`
	// Conventions that are turned off: `list`, `created`, `deleted` and `batch`. The upstream's
	// responses and statuses then stay as they are. Default: none.
	Off []string `json:"off,omitempty"`
	// Media types that pass unchanged where JSON is declared, such as `text/csv` or `image/*`, for
	// downloads. Default: none.
	Pass []string `json:"pass,omitempty"`
	// Which of the upstream's successes are failures. They are checked before those of the handler's
	// `errors`. Default: none.
	FailWhen []FailWhen `json:"fail_when,omitempty"`
	// Header fields of the upstream's responses that reach clients in addition to the standard ones:
	// `X-WP-Total`, `X-WP-*` for all with that prefix, or `*` for all. Default: none.
	HeaderDown []string `json:"header_down,omitempty"`
	// Header fields of requests that reach the upstream only if they are named here: `Cookie`.
	// Default: none.
	HeaderUp []string `json:"header_up,omitempty"`
	// The charset of the upstream's texts if they are not UTF-8 and not labelled, and of the forms,
	// queries and paths that it is sent: a WHATWG or IANA name such as `iso-8859-1`. JSON is sent as
	// ASCII with escapes. Default: UTF-8 only.
	Charset string `json:"charset,omitempty"`
	// Parameters that the gateway adds to requests for the upstream, and that clients cannot send.
	// Default: none.
	Fixed []Fixed `json:"fixed,omitempty"`
	// The structure of responses in XML, which are converted to JSON. Default: the upstream responds
	// in JSON.
	FromXML *FromXML `json:"from_xml,omitempty"`
	// The resources below each item. Default: none.
	Nested []Resource `json:"nested,omitempty"`

	// Shared are parameters that the gateway sends with requests of all resources. With sets
	// them.
	Shared []Fixed `json:"-"`
	// SignIn are the parameters that a sign-in gives, without values. With sets them.
	SignIn []supply.Param `json:"-"`
}

// Route is one operation: a client's request and the request to the upstream that it becomes.
type Route struct {
	// The client's method. Required.
	Method string `json:"method"`
	// The client's path; placeholders are whole segments: `/articles/{id}`. Their values may contain
	// ASCII letters, digits and `-_.~:@`, unless an expression (RE2, for the whole decoded value)
	// permits others: `/pages/{title:[^|]+}`. It applies to the placeholder with that name in the
	// whole resource and in resources nested in it. Required.
	Path string `json:"path"`
	// The upstream's method. Default: the same.
	UpstreamMethod string `json:"upstream_method,omitempty"`
	// The upstream's path and query, with the placeholders of `path`. Required.
	Upstream string `json:"upstream"`
	// How the body is sent: `form`, `json`, `multipart` or `xml`. With a GET, `form` or `json` sends
	// the parameters in the body of a POST. Default: `json` if members are renamed, otherwise
	// unchanged.
	As string `json:"as,omitempty"`
	// The root element of a body that is sent as `xml`. Required with `xml`.
	XMLRoot string `json:"xml_root,omitempty"`
	// Calls the upstream by JSON-RPC or XML-RPC, with a POST to the path of `upstream`. Default: plain
	// HTTP.
	RPC *RPC `json:"rpc,omitempty"`
	// Members that the gateway adds to the body and clients cannot send: constants, and values of the
	// client's path. With a GET they can also be values of its parameters, all of which are then sent
	// in the body of a POST. Default: none.
	Members []compose.Member `json:"members,omitempty"`
	// Sends the client's method in `X-HTTP-Method-Override`.
	Override bool `json:"override,omitempty"`
}

// Created is the response to a request that created a resource.
type Created struct {
	// The status: `201`. Required.
	Status int `json:"status"`
	// JSON Pointer to the new id in the upstream's response. Default: the resource's `id`.
	ID string `json:"id,omitempty"`
}

// RPC is a call of an upstream that speaks JSON-RPC 2.0 or XML-RPC.
type RPC struct {
	// The upstream's protocol: `json` or `xml`. Default: `json`.
	Protocol string `json:"protocol,omitempty"`
	// The name of the method: `article.get`. Required.
	Method string `json:"method"`
	// The parameters: a JSON array or object in which placeholders stand for values: `[{id}]`,
	// `{"id":{id|int},"title":{body.title}}`. Values of the client's path are texts; `{query.start}`
	// is a query parameter, by the upstream's name; `|int` makes either a whole number. `{body}` is
	// the client's body and `{body.title}` one of its members, by the upstream's name.
	// `{env.API_TOKEN}`, `{file./run/secrets/token}` and `{http.auth.user.id}` are replaced in each
	// call, also inside quotes: `"token:{env.API_TOKEN}"`. A member is left out if the request does
	// not contain its value; in an array it is null. For XML-RPC, an array. Default: no parameters.
	Params string `json:"params,omitempty"`
}
