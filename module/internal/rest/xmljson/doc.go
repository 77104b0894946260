// Package xmljson maps small XML documents to JSON and back: an element becomes a text or an object, an
// attribute a member `@name`, text next to them the member `#text`, and repeated elements a list. It
// rejects document types and entities, and limits size, depth, elements and attributes. It knows
// nothing of HTTP or charsets.
package xmljson
