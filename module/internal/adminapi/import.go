package adminapi

// MaxBody is the largest body of a request, in bytes: a client with a JWK set has a few thousand.
const MaxBody = 64 << 10

// MaxImport is the most users of one [Import].
const MaxImport = 500

// Import is a part of the users of another program.
type Import struct {
	DryRun bool           `json:"dry_run,omitempty"`
	Update bool           `json:"update,omitempty"`
	Users  []ImportedUser `json:"users"`
}

// ImportedUser is a user of another program. A field that is empty is not given.
type ImportedUser struct {
	ID           string         `json:"id,omitempty"`
	Username     string         `json:"username"`
	Name         string         `json:"name,omitempty"`
	Nickname     string         `json:"nickname,omitempty"`
	Picture      string         `json:"picture,omitempty"`
	Email        string         `json:"email,omitempty"`
	Phone        string         `json:"phone,omitempty"`
	Locked       bool           `json:"locked,omitempty"`
	Claims       map[string]any `json:"claims,omitempty"`
	Password     string         `json:"password,omitempty"`
	PasswordHash string         `json:"password_hash,omitempty"`
}

// ImportOutcome is what became of an imported user, or would become without DryRun.
type ImportOutcome string

// The outcomes of an import.
const (
	ImportCreated ImportOutcome = "created"
	ImportPresent ImportOutcome = "present" // was there, and is as before
	ImportUpdated ImportOutcome = "updated"
	ImportRefused ImportOutcome = "refused" // Field and Reason say why
)

// ImportResult says what became of one user. It never quotes a field.
type ImportResult struct {
	Outcome ImportOutcome `json:"outcome"`
	Field   string        `json:"field,omitempty"`
	Reason  string        `json:"reason,omitempty"`
}

// ImportResults are those of the first users of an [Import], at least one. The others were not begun for lack of time.
type ImportResults struct {
	Results []ImportResult `json:"results"`
}
