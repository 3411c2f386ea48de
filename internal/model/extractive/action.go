package extractive

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"recap/internal/compaction/transcript"
)

// action is one tool call with its result.
type action struct {
	tool     string
	path     string // of a call that names a file
	command  string // of a call that runs one
	detail   string // of any other call: its first argument
	output   string
	answered bool
	failed   bool
}

func newAction(c *transcript.Call) *action {
	a := &action{tool: c.Name}
	for _, arg := range c.Args {
		switch strings.ToLower(arg.Key) {
		case "path", "file_path", "filepath", "file", "filename", "notebook_path", "target_file":
			if a.path == "" {
				a.path = stringValue(arg.JSON)
			}
		case "command", "cmd", "script", "code":
			if a.command == "" {
				a.command = strings.TrimSpace(stringValue(arg.JSON))
			}
		case "pattern", "query", "url", "prompt", "task":
			if a.detail == "" {
				a.detail = stringValue(arg.JSON)
			}
		}
	}
	if a.path == "" && a.command == "" && a.detail == "" && len(c.Args) > 0 {
		a.detail = c.Args[0].Key + "=" + bounded(c.Args[0].JSON, 80)
	}
	return a
}

// stringValue decodes a JSON string, or an array of strings as words; other values stay as they are.
func stringValue(raw string) string {
	const most = 16 << 10
	if len(raw) > most {
		return bounded(raw, most/8)
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) == nil {
		return s
	}
	var words []string
	if json.Unmarshal([]byte(raw), &words) == nil {
		return strings.Join(words, " ")
	}
	return raw
}

// access is what a call does to its file.
type access int

const (
	accessNone access = iota
	accessRead
	accessChange
)

func (a *action) access() access {
	name := strings.ToLower(a.tool)
	switch {
	case a.path == "" || strings.Contains(a.path, "://") || a.command != "":
		return accessNone
	case containsAny(name, "edit", "write", "create", "replace", "patch", "delete", "remove", "rename", "move", "insert"):
		return accessChange
	case containsAny(name, "read", "view", "open", "cat"):
		return accessRead
	}
	return accessNone
}

func (a *action) changes() bool { return a.access() == accessChange }

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// target is what the action was about, as a code span.
func (a *action) target(n int) string {
	switch {
	case a.command != "":
		return code(a.command, n)
	case a.path != "" && a.detail != "":
		return code(a.detail, n) + " in " + code(a.path, n)
	case a.path != "":
		return code(a.path, n)
	case a.detail != "":
		return code(a.detail, n)
	}
	return ""
}

// key identifies what was tried, so that a later success can settle an earlier failure.
func (a *action) key() string {
	return a.tool + "\x00" + a.command + "\x00" + a.path + "\x00" + a.detail
}

func (a *action) state() string {
	switch {
	case !a.answered:
		return "no result yet"
	case a.failed:
		return "failed"
	}
	return "ok"
}

// describe renders the action on one line.
func (a *action) describe() string {
	s := code(a.tool, 40)
	if t := a.target(160); t != "" {
		s += " " + t
	}
	return s + " — " + a.state()
}

var exitCode = regexp.MustCompile(`(?i)\bexit(?:ed)?(?: with)?(?: status| code)?:? +([0-9]{1,3})\b`)

// looksFailed judges a command's output where the tool set no error flag. Only unmistakable signs
// count.
func looksFailed(out string) bool {
	if containsAny(out, "--- FAIL", "FAIL\t", "\npanic: ", "Traceback (most recent call last)", "npm ERR!", "error[E", "BUILD FAILED") ||
		strings.HasPrefix(out, "panic: ") || strings.HasPrefix(out, "fatal: ") {
		return true
	}
	if !strings.Contains(out, "exit") && !strings.Contains(out, "Exit") {
		return false
	}
	m := exitCode.FindStringSubmatch(out)
	if m == nil {
		return false
	}
	n, err := strconv.Atoi(m[1])
	return err == nil && n != 0
}

var telling = regexp.MustCompile(`(?i)error|fail|panic|exception|fatal|cannot|can't|not found|undefined|denied|refused|unexpected|mismatch|timed? ?out|traceback|错误|失败|ошибк|エラー|失敗|خطأ`)

// saysNothing matches what tools say about the run itself.
var saysNothing = regexp.MustCompile(`(?i)^\(?(?:no output|(?:command|process) (?:exited with (?:exit )?code \d+|aborted|timed out after .*)|exit code:? \d+)\)?\.?$`)

// tells reports whether an output says more than how the run ended.
func tells(out string) bool {
	const short = 160
	return len(out) > short || len(errorLines(out, 1)) > 0
}

// longLine is the length in bytes from which a line of output is data rather than a message.
const longLine = 400

// errorLines picks the lines of an output that say what went wrong: from the first telling one on.
func errorLines(out string, most int) []string {
	var lines []string
	for l := range strings.SplitSeq(out, "\n") {
		if t := strings.TrimSpace(l); t != "" && !saysNothing.MatchString(t) {
			lines = append(lines, t)
		}
		if len(lines) >= 400 {
			break
		}
	}
	if short := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return len(l) > longLine }); len(short) > 0 {
		lines = short
	}
	from := 0
	for i, l := range lines {
		if telling.MatchString(l) {
			from = i
			break
		}
	}
	return lines[from:min(len(lines), from+most)]
}

// ownCommandLead is how a session renders a command that the user ran in the agent's shell (package
// session, ToModel); a test holds the two together.
const ownCommandLead = "Command run by the user: "

// ownCommand recognises such a command: the command in backticks, then its fenced output.
func ownCommand(text string) (cmd, out string, ok bool) {
	rest, found := strings.CutPrefix(text, ownCommandLead)
	if !found {
		return "", "", false
	}
	run := len(rest) - len(strings.TrimLeft(rest, "`"))
	if run == 0 {
		return "", "", false
	}
	cmd, out, ok = strings.Cut(rest[run:], rest[:run])
	return strings.TrimSpace(cmd), unfence(strings.TrimSpace(out)), ok
}

// unfence drops the fence lines around an output.
func unfence(out string) string {
	first, rest, more := strings.Cut(out, "\n")
	fence := strings.TrimSpace(first)
	if !more || len(fence) < 3 || strings.Trim(fence, "`") != "" {
		return out
	}
	if body, after, closed := strings.Cut(rest, "\n"+fence); closed {
		return body + after
	}
	return rest
}

// repositoryAspect names what a command tells about the repository, "" when nothing.
func repositoryAspect(cmd string) string {
	for _, aspect := range []string{"git status", "git branch", "git log", "git diff --stat", "git stash list", "git rev-parse"} {
		if strings.Contains(cmd, aspect) {
			return aspect
		}
	}
	return ""
}
