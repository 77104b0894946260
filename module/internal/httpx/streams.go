package httpx

// IsLines reports whether a media type is one of the names of JSON lines.
func IsLines(media string) bool {
	switch media {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/jsonlines":
		return true
	}
	return false
}

// IsStream reports whether bodies of a media type arrive over time, and may have no end.
func IsStream(media string) bool {
	return media == "text/event-stream" || media == "application/json-seq" || IsLines(media)
}
