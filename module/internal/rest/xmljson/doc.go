// Package xmljson owns the mapping between small XML documents and JSON: an element is a text
// or an object, an attribute a member `@name`, text beside them the member `#text`, and
// repeated elements a list. It refuses document types and entities, and bounds size, depth,
// elements and attributes. It knows nothing of HTTP or charsets.
package xmljson
