package resource

import (
	"github.com/gatehouse/gatehouse/module/rest/compose"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/supply"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// Resource is a collection and its items, or one document without items.
type Resource struct {
	// The path without a slash in front: `articles`, `students/{id}/friends`. Of a nested
	// resource the part behind its parent's item: `friends`.
	Path string `json:"path"`
	// What is sent upstream for which request. Default: GET and POST of the collection and
	// GET, PUT, PATCH and DELETE of its items, to the same path.
	Routes []Route `json:"routes,omitempty"`
	// How the collection is listed. Default: an answer to GET of a collection that is an array,
	// or an object with a total and an array, becomes a page with `data` and `pagination`;
	// others stay.
	List *list.Config `json:"list,omitempty"`
	// JSON Pointer of the resource in the upstream's answer. Default: all of it.
	Item string `json:"item,omitempty"`
	// The same for the answers to one kind of operation, where it differs: `read`, `create`,
	// `replace`, `update` or `action`. Default: `item`.
	ItemOf map[Kind]string `json:"item_of,omitempty"`
	// JSON Pointer of the id in a resource, in the upstream's names. Default: `/id`.
	ID string `json:"id,omitempty"`
	// Members by our names and the upstream's names for them, in answers and bodies alike. A name
	// has no slash: one that has is written as a pointer in `lift`, `/b~1c`. Default: none.
	Rename map[string]string `json:"rename,omitempty"`
	// Members by our names that are somewhere inside the upstream's resource, and the JSON
	// Pointers of them: `/title/rendered`. Where nothing is there, an answer has no such
	// member. In bodies they are refused, unless `rename` says what they are called there. A
	// pointer to a member of the resource itself, `/name`, is its name: in answers and bodies, or
	// in answers alone where `rename` has another one for bodies.
	// Values in a member that is in `drop` too stream; of others a resource may have 1 MiB. Default: none.
	Lift map[string]string `json:"lift,omitempty"`
	// Members of the upstream's resource that do not reach clients, by the upstream's names, or
	// JSON Pointers of those inside others. Default: none.
	Drop []string `json:"drop,omitempty"`
	// The member that the upstream expects a body's members in: `article` for
	// `{"article":{...}}`, and `article[title]` in a form. Default: none.
	Wrap string `json:"wrap,omitempty"`
	// Words of ours for an upstream's values, by member (our name) and word. A body with
	// another value is refused, an answer's stays. Default: any value.
	Values map[string]map[string]string `json:"values,omitempty"`
	// The members that a PUT must carry, in our names. Default: none in particular.
	Replace []string `json:"replace,omitempty"`
	// What every successful POST of the collection is answered with. Default: 201 in place of
	// the upstream's 200, 203, 204 or 205, where the answer is JSON, plain text or empty, and
	// `Location` where the answer has an id or an address of the resource.
	Created *Created `json:"created,omitempty"`
	// The status of every successful DELETE, `204`: without a body. Default: 204 in place of
	// the upstream's 200, 203 or 205, where the answer is JSON, plain text or empty.
	Deleted int `json:"deleted,omitempty"`
	// The relations that each resource shows. Default: none.
	Links []link.Link `json:"links,omitempty"`
	// The members that a PATCH of the collection may change. Default: any, where a PATCH of
	// one item is declared.
	Batch []string `json:"batch,omitempty"`
	// The most items of such a PATCH, at most 1000. Default: 100.
	BatchMax int `json:"batch_max,omitempty"`
	// Constraints on the members of bodies. Default: none.
	Validate []validate.Rule `json:"validate,omitempty"`
	// A schema of bodies, besides.
	Schema *validate.Schema `json:"schema,omitempty"`
	// Honours `Idempotency-Key` of POST requests.
	Idempotency bool `json:"idempotency,omitempty"`
	// Gives answers an ETag of their own, and honours conditions on it.
	ETag bool `json:"etag,omitempty"`
	// Parameters of the query that operations which are no list pass on. Default: all, where
	// nothing is said of what the upstream's requests and answers look like; otherwise none.
	Query []list.Name `json:"query,omitempty"`
	// Conventions that are turned off: `list`, `created`, `deleted` and `batch`. The upstream's
	// answers and statuses stay as they are then. Default: none.
	Off []string `json:"off,omitempty"`
	// Media types that pass as they are where JSON is declared, `text/csv` or `image/*`: downloads.
	// Default: none.
	Pass []string `json:"pass,omitempty"`
	// Which successes of the upstream are failures, besides those that the API's dialect names.
	// They are asked before those. Default: none.
	FailWhen []FailWhen `json:"fail_when,omitempty"`
	// Header fields of the upstream's answers that reach the client besides the usual ones:
	// `X-WP-Total`, `X-WP-*` for all that begin so, or `*` for every field. Default: none.
	HeaderDown []string `json:"header_down,omitempty"`
	// Header fields of the client's that reach the upstream only when they are named: `Cookie`.
	// Default: none.
	HeaderUp []string `json:"header_up,omitempty"`
	// The charset of the upstream's texts where they are not in UTF-8 and have no other label,
	// and of the forms, queries and paths that are sent: a name of the WHATWG or IANA, such as
	// `iso-8859-1`. JSON is sent in ASCII with escapes. Default: UTF-8 alone is known.
	Charset string `json:"charset,omitempty"`
	// Parameters that the gateway sends with requests for the upstream, and no client can.
	// Default: none.
	Fixed []Fixed `json:"fixed,omitempty"`
	// What answers in XML look like; they are read as JSON. Default: the upstream answers in JSON.
	FromXML *FromXML `json:"from_xml,omitempty"`
	// Resources of each item. Default: none.
	Nested []Resource `json:"nested,omitempty"`

	// Shared are parameters that the gateway sends with requests of all resources. With sets
	// them.
	Shared []Fixed `json:"-"`
	// SignIn are the parameters that a sign-in gives, without values. With sets them.
	SignIn []supply.Param `json:"-"`
}

// Route is one operation: a request of the client's, and the upstream's for it.
type Route struct {
	// The client's method. Required.
	Method string `json:"method"`
	// The client's path; placeholders are whole segments: `/articles/{id}`. Their values have
	// ASCII letters, digits and `-_.~:@`, unless an expression (RE2, of the whole decoded value)
	// permits others: `/pages/{title:[^|]+}`. It holds for the placeholder of that name in the
	// whole resource and in those nested in it. Required.
	Path string `json:"path"`
	// The upstream's method. Default: the same.
	UpstreamMethod string `json:"upstream_method,omitempty"`
	// The upstream's path and query, with the placeholders of `path`. Required.
	Upstream string `json:"upstream"`
	// How the body is sent: `form`, `json`, `multipart` or `xml`. With a GET, `form` or `json`: the
	// upstream takes the parameters in the body of a POST. Default: `json` where members are
	// renamed, else as it came.
	As string `json:"as,omitempty"`
	// The outermost element of a body that is sent as `xml`. Required with `xml`.
	XMLRoot string `json:"xml_root,omitempty"`
	// The upstream is called by JSON-RPC at this path, with POST, instead. Default: it is not.
	RPC *RPC `json:"rpc,omitempty"`
	// Members that the gateway places in the body behind those of the client, which cannot send
	// them: constants, and values of the client's path. With a GET, whose parameters all go in the
	// body of a POST then, also values of those. Default: none.
	Members []compose.Member `json:"members,omitempty"`
	// Tells the upstream the client's method in X-HTTP-Method-Override.
	Override bool `json:"override,omitempty"`
}

// Created is the answer to a request that made something.
type Created struct {
	// The status: `201`. Required.
	Status int `json:"status"`
	// JSON Pointer of the new id in the upstream's answer. Default: where `id` is in the
	// resource.
	ID string `json:"id,omitempty"`
}

// RPC is a call of an upstream that speaks JSON-RPC 2.0 or XML-RPC.
type RPC struct {
	// What the upstream speaks: `json` or `xml`. Default: `json`.
	Protocol string `json:"protocol,omitempty"`
	// The name of the method: `article.get`. Required.
	Method string `json:"method"`
	// The parameters, a JSON array or object in which placeholders stand for values: `[{id}]`,
	// `{"id":{id|int},"title":{body.title}}`. There are those of the client's path as texts,
	// `{query.start}` for a parameter by the upstream's name, and both with `|int` as whole
	// numbers; `{body}` and `{body.title}` for the client's body and a member of it, by the
	// upstream's name. `{env.API_TOKEN}`, `{file./run/secrets/token}` and `{http.auth.user.id}` are
	// filled in for each call, in quotes too: `"token:{env.API_TOKEN}"`. A member whose value the
	// request does not have is left out; in an array it is null. Those of XML-RPC are an array.
	// Default: the call has no parameters.
	Params string `json:"params,omitempty"`
}
