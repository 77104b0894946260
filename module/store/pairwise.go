package store

// Pairwise is what a user is called at one client, or at all clients of one owner, of
// Variant B. It is kept for ever, with the subject as parent: a name that is derived anew
// would change with the secret it was derived from, and with it who the site knows.
type Pairwise struct {
	schema
	Name    string `json:"name"`
	Subject string `json:"sub"`
	// Of is the client or owner whose name it is.
	Of string `json:"of"`
}
