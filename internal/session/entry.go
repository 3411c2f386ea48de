package session

// Entry types that the package knows. Unknown types take part in the tree, are kept byte for byte
// and contribute no message.
const (
	TypeHeader        = "session"
	TypeTitle         = "title" // a padded line before the header (oh-my-pi family)
	TypeMessage       = "message"
	TypeCompaction    = "compaction"
	TypeBranchSummary = "branch_summary"
	TypeCustomMessage = "custom_message"
	TypeCustom        = "custom"
	TypeModelChange   = "model_change"
	TypeThinkingLevel = "thinking_level_change"
	TypeLabel         = "label"
	TypeSessionInfo   = "session_info"
	TypeLeaf          = "leaf" // OpenClaw family: names the active leaf
)

// OutcomeRecord is the customType of a note about a compaction that did not succeed. Agents show it
// and never send it (spec/sessions §3.4).
const OutcomeRecord = "compaction_outcome"

// KeepNothing is the firstKeptEntryId of a compaction that keeps no entry before itself.
const KeepNothing = "compaction:keep-nothing"

// Dialect is the agent family that reads a session; new entries keep its form (DESIGN §6).
type Dialect string

// Dialects. Veyyon stands for the Veyyon and oh-my-pi family.
const (
	DialectPi     Dialect = "pi"
	DialectVeyyon Dialect = "veyyon"
)

// Header is the first record of a session file.
type Header struct {
	ID        string
	Version   int // 1 when the file names none
	Timestamp string
	Cwd       string
	Raw       []byte // the stored object, byte for byte
}

// Entry is one record after the header, as the index knows it: where it lies and how it hangs in
// the tree. Its body is read through Bodies.
type Entry struct {
	ID        string // of a version 1 file: derived from line number and content
	ParentID  string // "" for a root; of a TypeLeaf record the entry it names
	Type      string
	Role      string // of a message entry, else ""
	Timestamp string // ISO, as stored
	NoParent  bool   // the object has no parent key at all, not even null
	Line      int    // physical line, 1-based, header included; 0 while unknown (read from the tail)
	Offset    int64  // bytes from the start of the file to the object
	Length    int    // bytes of the object, without newline
}

// IsMessageLike reports whether the entry's type can yield a message of the context.
func (e *Entry) IsMessageLike() bool {
	return e.Type == TypeMessage || e.Type == TypeCustomMessage || e.Type == TypeBranchSummary
}

// Bodies reads the stored object of an entry, byte for byte. For entries of a version 1 or 2 file
// the object is as migrated (id, parentId and renamed role included). Safe for concurrent use.
type Bodies interface {
	Body(e *Entry) ([]byte, error)
}

// InOrder is implemented by Bodies that can read ahead. InOrder returns Bodies for one goroutine that
// asks for entries mostly in file order; what its Body returns is valid until the next call.
type InOrder interface {
	InOrder() Bodies
}

// Forward returns the Bodies to read many entries with, in file order and from one goroutine. What its
// Body returns is valid until the next call.
func Forward(b Bodies) Bodies {
	if o, ok := b.(InOrder); ok {
		return o.InOrder()
	}
	return b
}
