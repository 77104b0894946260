package resource

// Kind is what a request does: a closed set, usable as a metric's label.
type Kind string

const (
	List    Kind = "list"
	Read    Kind = "read"
	Create  Kind = "create"
	Replace Kind = "replace"
	Update  Kind = "update"
	Delete  Kind = "delete"
	Batch   Kind = "batch"
	Action  Kind = "action" // any other
)

// Kinds lists all kinds.
var Kinds = []Kind{List, Read, Create, Replace, Update, Delete, Batch, Action}

// AnsweredKinds are the kinds of operations that an upstream answers. The gateway answers batches
// itself.
var AnsweredKinds = []Kind{List, Read, Create, Replace, Update, Delete, Action}
