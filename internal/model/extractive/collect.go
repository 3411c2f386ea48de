package extractive

import (
	"path"
	"slices"
	"strings"
)

// failure is something that went wrong, and whether the same thing went right later.
type failure struct {
	action
	times   int
	turn    int // in which turn it happened last
	settled bool
}

func (f *facts) noteFailure(a *action) {
	if a.failed && !tells(a.output) {
		return // a search without a match, an abort: nothing to settle
	}
	key := a.key()
	at := slices.IndexFunc(f.failures, func(x failure) bool { return x.key() == key })
	switch {
	case at >= 0 && a.failed:
		x := f.failures[at]
		x.action, x.settled = *a, false
		x.times++
		x.turn = f.users
		f.failures = append(slices.Delete(f.failures, at, at+1), x)
	case at >= 0 && a.answered:
		f.failures[at].settled = true
	case a.failed:
		if len(f.failures) >= failuresMax {
			// A settled failure is the first to go, else the oldest.
			drop := max(0, slices.IndexFunc(f.failures, func(x failure) bool { return x.settled }))
			f.failures = slices.Delete(f.failures, drop, drop+1)
		}
		f.failures = append(f.failures, failure{action: *a, times: 1, turn: f.users})
	}
}

// open returns the failures that nothing settled, oldest first.
func (f *facts) open() []failure {
	var out []failure
	for _, x := range f.failures {
		if !x.settled {
			out = append(out, x)
		}
	}
	return out
}

// command is a command that was run, with its newest outcome.
type command struct {
	text, state string
	times       int
}

func (f *facts) noteCommand(text, state string) {
	if looks(text) {
		return
	}
	c := command{text: text, state: state, times: 1}
	if at := slices.IndexFunc(f.commands, func(x command) bool { return x.text == text }); at >= 0 {
		c.times += f.commands[at].times
		f.commands = slices.Delete(f.commands, at, at+1)
	} else if len(f.commands) >= commandsMax {
		f.commands = slices.Delete(f.commands, 0, 1)
	}
	f.commands = append(f.commands, c)
}

// looks reports whether a command only looks at something: there is nothing to remember of it.
func looks(cmd string) bool {
	for strings.HasPrefix(cmd, "cd ") {
		_, rest, found := strings.Cut(cmd, "&&")
		if !found {
			return true
		}
		cmd = strings.TrimSpace(rest)
	}
	word, rest, _ := strings.Cut(cmd, " ")
	switch word {
	case "grep", "rg", "ls", "find", "cat", "head", "tail", "wc", "echo", "pwd", "which", "tree", "stat", "file":
		return !strings.Contains(rest, ">")
	case "sed":
		return strings.HasPrefix(rest, "-n")
	}
	return false
}

func (f *facts) noteRepository(a *action) {
	aspect := repositoryAspect(a.command)
	f.repository = slices.DeleteFunc(f.repository, func(x action) bool { return repositoryAspect(x.command) == aspect })
	f.repository = append(f.repository, *a)
}

// fileList holds the files that calls named, by last touch.
type fileList struct {
	state map[string]access
	last  map[string]int // when it was touched last
	now   int
}

func (l *fileList) add(a *action) {
	kind := a.access()
	if kind == accessNone {
		return
	}
	l.put(a.path, kind)
}

func (l *fileList) put(path string, kind access) {
	if l.state == nil {
		l.state, l.last = map[string]access{}, map[string]int{}
	}
	l.now++
	l.state[path] = max(l.state[path], kind)
	l.last[path] = l.now
}

// of returns the files of a kind, the last touched ones first.
func (l *fileList) of(kind access) []string {
	var out []string
	for p, k := range l.state {
		if k == kind {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return l.last[b] - l.last[a] })
	return out
}

// common is the directory that all changed files with absolute paths lie in, "" when there is none worth
// naming. With it rows can name files shortly; the list of files names them in full.
func (l *fileList) common() string {
	dir, first := "", true
	for p, kind := range l.state {
		if kind != accessChange || !strings.HasPrefix(p, "/") {
			continue
		}
		if first {
			dir, first = path.Dir(p), false
		}
		for dir != "/" && !strings.HasPrefix(p, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	if strings.Count(dir, "/") < 2 {
		return ""
	}
	return dir + "/"
}
