package session

// Signals are traits of an agent family seen in a file. They combine with | in any order, so parts
// of a file can be read apart.
type Signals uint8

// Traits of the families.
const (
	SignalVeyyon Signals = 1 << iota // something that only the Veyyon and oh-my-pi family writes
	SignalPi                         // something that only pi writes
)

// Dialect decides which family a file belongs to: Veyyon as soon as one of its traits was seen (it
// also opens and continues files of pi), else pi.
func (s Signals) Dialect() Dialect {
	if s&SignalVeyyon != 0 {
		return DialectVeyyon
	}
	return DialectPi
}

// Signals returns the traits that an object shows.
func (o *Object) Signals() Signals {
	switch o.Type {
	case TypeTitle, "title_change", "session_init", "settings_snapshot", "mode_change", "ttsr_injection",
		"mcp_tool_selection", "subagent_spawn", "session_lifecycle", "session_checkpoint":
		return SignalVeyyon
	case TypeHeader:
		return o.keySignals(nil, []string{"title", "titleSource", "providerPromptCacheKey"})
	case TypeModelChange:
		return o.keySignals([]string{"modelId"}, []string{"model"})
	case TypeCompaction, TypeBranchSummary:
		s := o.keySignals([]string{"fromHook"}, []string{"fromExtension", "preserveData", "shortSummary"})
		details := get(view(o.Raw), "details")
		if get(details, "readFilesAdded").Exists() || get(details, "modifiedFilesAdded").Exists() {
			s |= SignalVeyyon
		}
		return s
	}
	return 0
}

// keySignals looks for top-level keys that one family writes.
func (o *Object) keySignals(pi, veyyon []string) Signals {
	v := view(o.Raw)
	var s Signals
	for _, key := range pi {
		if get(v, key).Exists() {
			s |= SignalPi
		}
	}
	for _, key := range veyyon {
		if get(v, key).Exists() {
			s |= SignalVeyyon
		}
	}
	return s
}
