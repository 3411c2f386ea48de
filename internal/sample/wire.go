package sample

// The records of a session file, with their fields in the order agents write them.

type header struct {
	Type      string `json:"type"`
	Version   int    `json:"version,omitempty"`
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	Cwd       string `json:"cwd"`
	Provider  string `json:"provider,omitempty"` // version 1
	ModelID   string `json:"modelId,omitempty"`  // version 1
}

// base is what every entry starts with. In version 1 entries have neither id nor parent.
type base struct {
	Type      string   `json:"type"`
	ID        string   `json:"id,omitempty"`
	ParentID  nullable `json:"parentId,omitzero"`
	Timestamp string   `json:"timestamp"`
}

// nullable is an id, null for a root, or left out altogether.
type nullable struct {
	id  string
	set bool
}

func (n nullable) MarshalJSON() ([]byte, error) {
	if n.id == "" {
		return []byte("null"), nil
	}
	return []byte(`"` + n.id + `"`), nil
}

func (n nullable) IsZero() bool { return !n.set }

type messageEntry struct {
	base
	Message any `json:"message"`
}

type userMessage struct {
	Role      string `json:"role"`
	Content   any    `json:"content"` // a string or blocks
	Timestamp int64  `json:"timestamp"`
}

type assistantMessage struct {
	Role         string `json:"role"`
	Content      []any  `json:"content"`
	API          string `json:"api"`
	Provider     string `json:"provider"`
	Model        string `json:"model"`
	Usage        usage  `json:"usage"`
	StopReason   string `json:"stopReason"`
	ErrorMessage string `json:"errorMessage,omitempty"`
	Timestamp    int64  `json:"timestamp"`
}

type toolResultMessage struct {
	Role       string `json:"role"`
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	Content    []any  `json:"content"`
	IsError    bool   `json:"isError"`
	Timestamp  int64  `json:"timestamp"`
}

type bashMessage struct {
	Role      string `json:"role"`
	Command   string `json:"command"`
	Output    string `json:"output"`
	ExitCode  int    `json:"exitCode"`
	Cancelled bool   `json:"cancelled"`
	Truncated bool   `json:"truncated"`
	Timestamp int64  `json:"timestamp"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"thinkingSignature"`
}

type imageBlock struct {
	Type     string `json:"type"`
	Data     string `json:"data"`
	MimeType string `json:"mimeType"`
}

type toolCallBlock struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

type usage struct {
	Input       int  `json:"input"`
	Output      int  `json:"output"`
	CacheRead   int  `json:"cacheRead"`
	CacheWrite  int  `json:"cacheWrite"`
	TotalTokens int  `json:"totalTokens"`
	Cost        cost `json:"cost"`
}

type cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

type compactionEntry struct {
	base
	Summary          string    `json:"summary"`
	FirstKeptEntryID string    `json:"firstKeptEntryId,omitempty"`
	FirstKeptIndex   int       `json:"firstKeptEntryIndex,omitempty"` // version 1
	TokensBefore     int       `json:"tokensBefore"`
	Details          *fileSets `json:"details,omitempty"`
	FromHook         bool      `json:"fromHook"`
}

type fileSets struct {
	ReadFiles     []string `json:"readFiles"`
	ModifiedFiles []string `json:"modifiedFiles"`
}

type branchSummaryEntry struct {
	base
	FromID   string    `json:"fromId"`
	Summary  string    `json:"summary"`
	Details  *fileSets `json:"details,omitempty"`
	FromHook bool      `json:"fromHook"`
}

type modelChangeEntry struct {
	base
	Provider string `json:"provider"`
	ModelID  string `json:"modelId"`
}

type thinkingLevelEntry struct {
	base
	ThinkingLevel string `json:"thinkingLevel"`
}

type labelEntry struct {
	base
	TargetID string `json:"targetId"`
	Label    string `json:"label"`
}

type sessionInfoEntry struct {
	base
	Name string `json:"name"`
}

type customEntry struct {
	base
	CustomType string `json:"customType"`
	Data       any    `json:"data"`
}

type customMessageEntry struct {
	base
	CustomType string `json:"customType"`
	Content    string `json:"content"`
	Display    bool   `json:"display"`
}
