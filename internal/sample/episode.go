package sample

// episode is one piece of work in the story: a bug or a feature in one file of an invented harbour
// scheduling service.
type episode struct {
	pkg, file, symbol, test string
	failure                 string // what the test says before the fix
	before, after           string // the edit
	command                 string // one more command that fits
}

func (e *episode) path() string     { return "internal/" + e.pkg + "/" + e.file + ".go" }
func (e *episode) testPath() string { return "internal/" + e.pkg + "/" + e.file + "_test.go" }

var episodes = []episode{
	{
		"tide", "window", "NextWindow", "TestNextWindowAcrossDST",
		"window_test.go:41: NextWindow(2026-03-29T01:10) = 02:30, want 03:30",
		"\tnext := at.Add(6*time.Hour + 12*time.Minute)", "\tnext := at.UTC().Add(6*time.Hour + 12*time.Minute).In(at.Location())",
		"go test ./internal/tide -run DST -count=20",
	},
	{
		"berth", "allocate", "Allocate", "TestAllocateRejectsOverlap",
		"allocate_test.go:77: Allocate(B7, 14:00-18:00): got <nil>, want ErrOverlap",
		"\tif slot.From.After(b.Until) {", "\tif !slot.From.Before(b.Until) {",
		"go vet ./internal/berth/...",
	},
	{
		"roster", "import", "ParseRoster", "TestParseRosterKeepsOrder",
		"import_test.go:58: pilots[2] = \"Okafor\", want \"Marín\"",
		"\tfor id, p := range byID {", "\tfor _, id := range order {\n\t\tp := byID[id]",
		"go test ./internal/roster -fuzz FuzzParseRoster -fuzztime 5s",
	},
	{
		"invoice", "round", "RoundFee", "TestRoundFeeHalfEven",
		"round_test.go:23: RoundFee(1042.125) = 1042.13, want 1042.12",
		"\treturn math.Round(v*100) / 100", "\treturn math.RoundToEven(v*100) / 100",
		"go test ./internal/invoice -bench Round -benchmem",
	},
	{
		"ais", "feed", "Reconnect", "TestReconnectBacksOff",
		"feed_test.go:112: attempt 4 waited 100ms, want at least 800ms",
		"\twait := f.base", "\twait := min(f.base<<attempt, f.ceiling)",
		"go test ./internal/ais -race",
	},
	{
		"api", "page", "NextPage", "TestNextPageStopsAtEnd",
		"page_test.go:36: NextPage returned cursor \"b3\" after the last row, want \"\"",
		"\treturn rows, rows[len(rows)-1].ID, nil", "\tif len(rows) < limit {\n\t\treturn rows, \"\", nil\n\t}\n\treturn rows, rows[len(rows)-1].ID, nil",
		"curl -s 'localhost:8420/v1/berths?limit=3' | head -c 900",
	},
	{
		"audit", "prune", "Prune", "TestPruneKeepsLegalHold",
		"prune_test.go:64: record 7741 was removed although legal_hold is set",
		"\t\tif r.At.Before(limit) {", "\t\tif r.At.Before(limit) && !r.LegalHold {",
		"go run ./cmd/harborctl audit prune --dry-run",
	},
	{
		"metrics", "export", "Export", "TestExportLabels",
		"export_test.go:29: label \"vessel\" has 18231 values, want at most 50",
		"\tlabels := prometheus.Labels{\"vessel\": v.Name}", "\tlabels := prometheus.Labels{\"class\": v.Class}",
		"curl -s localhost:8420/metrics | grep -c harbor_",
	},
}

// phrases are what user and agent say in one language. The requests follow the episodes.
type phrases struct {
	requests  []string
	look      []string // %s = path
	failing   []string // %s = test
	fix       []string // %s = symbol
	again     []string
	done      []string // %s = symbol, %s = path
	rules     []string // constraints of the user's
	decisions []string // of the agent's
	thoughts  []string // %s = symbol
	aside     string   // a request that leads to an abandoned branch
	asideDone string
	abandoned string // the summary of the branch
	goOn      string // after an aborted reply
	question  string // the last, unanswered message
	note      string // an extension's note
}

func speak(language string) *phrases {
	if p, ok := languages[language]; ok {
		return p
	}
	return languages["en"]
}

var languages = map[string]*phrases{
	"en": &english, "pt": &portuguese, "ja": &japanese, "zh": &chinese, "ar": &arabic, "ru": &russian,
}
