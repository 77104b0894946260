package httpx

// RangeFields are the header fields of a request that ask for a part of the response. Apache up to 2.4.62 reads Request-Range,
// too.
var RangeFields = []string{"Range", "Request-Range", "If-Range"}
