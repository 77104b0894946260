// Package apirest parses api_rest: upstreams, versions, resources, lists, jobs, the sign-in
// and the API's dialect of errors. It fills in configuration, which module/rest defines and
// checks, and adds the line that is wrong to its errors. It makes no decisions about requests.
package apirest
