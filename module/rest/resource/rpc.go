package resource

// RPC is a call of an upstream that speaks JSON-RPC 2.0 or XML-RPC.
type RPC struct {
	// What the upstream speaks: `json` or `xml`. Default: `json`.
	Protocol string `json:"protocol,omitempty"`
	// The name of the method: `article.get`.
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
