// Package sample generates agent sessions for demonstrations, tests and benchmarks: pi session files
// of version 3 or 1 that tell one coherent story, with the tool output, branches, thinking, images,
// failures and languages of real ones. All content is invented. The same Options always give the
// same bytes.
//
// It is pure apart from writing to the given writer, and imports the standard library only.
package sample

import (
	"bytes"
	"io"
	"time"
)

// Options say what to generate. The zero value is a session of about 320 entries in English.
type Options struct {
	Seed uint64
	// Entries is the least number of entries after the header; the story goes on to the end of its
	// turn and then asks one last question. Default 320.
	Entries int
	// Bytes makes the story go on until the file has at least so many bytes.
	Bytes int64
	// Language of user and agent: en (default), pt, ja, zh, ar, ru. Tool output is in English, with
	// some foreign strings in it.
	Language string
	// Version of the format: 3 (default), or 1: no ids, no tree, so no branches, labels and the like.
	Version int
	// Start is the time of the header; default 2026-03-02 09:00 UTC. No clock is read.
	Start time.Time
	// SessionID and Cwd of the header; both have defaults.
	SessionID, Cwd string
	// Compactions is how many compaction entries the file has, spread over it. Default none.
	Compactions int
	// Facts are sentences planted into user messages, evenly spread; Story says where. A session that
	// is too short for them is made longer.
	Facts []string
	// Linear leaves out the abandoned branch and its summary.
	Linear bool
}

func (o Options) withDefaults() Options {
	if o.Entries == 0 {
		o.Entries = 320
	}
	if o.Language == "" {
		o.Language = "en"
	}
	if o.Version == 0 {
		o.Version = 3
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	}
	if o.SessionID == "" {
		o.SessionID = "5a3b1e70-6c2d-4f89-9b14-0d7c5e2f8a61"
	}
	if o.Cwd == "" {
		o.Cwd = "/srv/dev/harbor"
	}
	return o
}

// Story tells what a generated session holds.
type Story struct {
	Entries  int    // after the header
	Bytes    int64  // of the file
	Leaf     string // id of the last entry; "" in version 1
	Question string // the pending question, the last user message
	First    string // the first user message
	Facts    []Fact
	// Abandoned lists the ids of the entries on the abandoned branch.
	Abandoned []string
	// Compactions lists the ids of the compaction entries.
	Compactions []string
	// ContextTokens is the last prompt size that a reply reports.
	ContextTokens int
	Turns         int
}

// Fact is a planted fact: in which entry, counting from 1 after the header, and under which id.
type Fact struct {
	Text  string
	Entry int
	ID    string
}

// Generate returns a session file.
func Generate(o Options) []byte {
	data, _ := Build(o)
	return data
}

// Build is Generate that also tells the story.
func Build(o Options) ([]byte, Story) {
	var b bytes.Buffer
	s, err := WriteTo(&b, o)
	if err != nil {
		panic(err) // a buffer does not fail, and everything we encode can be encoded
	}
	return b.Bytes(), s
}

// WriteTo writes a session file of any size, holding one turn in memory at a time. The error is w's.
func WriteTo(w io.Writer, o Options) (Story, error) {
	g := newGenerator(w, o.withDefaults())
	g.run()
	return g.story, g.close()
}
