package fileops

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"recap/internal/session"
)

// Record is one compaction on the path, as far as its file lists go.
type Record struct {
	ID            string
	Details       json.RawMessage
	FromExtension bool
}

// Chain finds an earlier compaction by id: one that lies before the given one on the same path. It
// returns false when there is none.
type Chain func(before, id string) (Record, bool, error)

// Resolve reads the lists a compaction stands for, following delta records to their base. ok is false
// when the compaction records no lists, so that the next one starts over. A base that is missing, not
// earlier or seen before ends the walk; what was collected stays (spec/summary §9.2).
func Resolve(r Record, earlier Chain) (lists Lists, ok bool, err error) {
	read, modified := map[string]struct{}{}, map[string]struct{}{}
	seen := map[string]bool{}
	for {
		seen[r.ID] = true
		d := parseDetails(r)
		if d.form == formNone {
			break
		}
		ok = true
		for _, p := range d.read {
			add(&read, StripSelector(p))
		}
		for _, p := range d.modified {
			add(&modified, p)
		}
		if d.form == formFull || d.base == "" || seen[d.base] {
			break
		}
		next, found, err := earlier(r.ID, d.base)
		if err != nil {
			return Lists{}, false, err
		}
		if !found {
			break
		}
		r = next
	}
	return sorted(read, modified), ok, nil
}

func sorted(read, modified map[string]struct{}) Lists {
	var l Lists
	for p := range read {
		l.Read = append(l.Read, p)
	}
	for p := range modified {
		l.Modified = append(l.Modified, p)
	}
	slices.SortFunc(l.Read, compareUnits)
	slices.SortFunc(l.Modified, compareUnits)
	return l
}

type form int

const (
	formNone form = iota
	formFull
	formDelta
)

type details struct {
	form           form
	base           string
	read, modified []string
}

func parseDetails(r Record) details {
	if r.FromExtension || !gjson.ValidBytes(r.Details) {
		return details{}
	}
	d := gjson.ParseBytes(r.Details)
	if read, modified := d.Get("readFiles"), d.Get("modifiedFiles"); read.IsArray() || modified.IsArray() {
		return details{form: formFull, read: texts(read), modified: texts(modified)}
	}
	if read, modified := d.Get("readFilesAdded"), d.Get("modifiedFilesAdded"); read.IsArray() || modified.IsArray() {
		out := details{form: formDelta, read: texts(read), modified: texts(modified)}
		if base := d.Get("base"); base.Type == gjson.String {
			out.base = base.String()
		}
		return out
	}
	return details{}
}

func texts(list gjson.Result) []string {
	var out []string
	for _, v := range list.Array() {
		if v.Type == gjson.String {
			out = append(out, v.String())
		}
	}
	return out
}

// Details builds the details object of a new compaction in the session's dialect: full lists for pi,
// for Veyyon what the lists gained over the base. base is empty when the lists start here.
func Details(d session.Dialect, l Lists, baseID string, base Lists) json.RawMessage {
	if d == session.DialectVeyyon {
		return encode(struct {
			Base     string   `json:"base,omitempty"`
			Read     []string `json:"readFilesAdded"`
			Modified []string `json:"modifiedFilesAdded"`
		}{baseID, minus(l.Read, base.Read), minus(l.Modified, base.Modified)})
	}
	return encode(struct {
		Read     []string `json:"readFiles"`
		Modified []string `json:"modifiedFiles"`
	}{minus(l.Read, nil), minus(l.Modified, nil)})
}

// minus returns the paths of list that without does not hold; never nil, so that JSON has an array.
func minus(list, without []string) []string {
	drop := make(map[string]struct{}, len(without))
	for _, p := range without {
		drop[p] = struct{}{}
	}
	out := []string{}
	for _, p := range list {
		if _, ok := drop[p]; !ok {
			out = append(out, p)
		}
	}
	return out
}

// encode marshals a struct of strings, which cannot fail.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("fileops: " + err.Error())
	}
	return raw
}
