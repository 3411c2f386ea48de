package cut

import (
	"errors"

	"recap/internal/session"
)

// ErrUnnamed says that the first entry to keep has no id a compaction could name.
var ErrUnnamed = errors.New("the first entry to keep has no id")

// IsPoint reports whether a kept tail may begin with the entry: what a person or an assistant began,
// never the answer to a tool call and never metadata.
func IsPoint(e *session.Entry) bool {
	switch e.Type {
	case session.TypeCustomMessage, session.TypeBranchSummary:
		return true
	case session.TypeMessage:
		switch e.Role {
		case session.RoleUser, session.RoleAssistant, session.RoleBashExecution, session.RoleHookMessage,
			session.RoleCustom, // what hookMessage became in version 3
			session.RoleBranchSummary, session.RoleCompactionSummary:
			return true
		}
	}
	return false
}

// startsTurn reports whether a turn begins with the entry.
func startsTurn(e *session.Entry) bool {
	switch e.Type {
	case session.TypeCustomMessage, session.TypeBranchSummary:
		return true
	case session.TypeMessage:
		return e.Role == session.RoleUser || e.Role == session.RoleBashExecution
	}
	return false
}

func isUser(e *session.Entry) bool {
	return e.Type == session.TypeMessage && e.Role == session.RoleUser
}

// turnStart finds where the turn that holds entry i begins, not before start; -1 when it does not.
func turnStart(path []*session.Entry, start, i int) int {
	for ; i >= start; i-- {
		if startsTurn(path[i]) {
			return i
		}
	}
	return -1
}

// firstPoint is the first cut point in [from, to), or from.
func firstPoint(path []*session.Entry, from, to int) int {
	for i := from; i < to; i++ {
		if IsPoint(path[i]) {
			return i
		}
	}
	return from
}

// firstMessage is the first entry from start on that can yield a message, or the path's length.
func firstMessage(path []*session.Entry, start int) int {
	for i := start; i < len(path); i++ {
		if path[i].IsMessageLike() {
			return i
		}
	}
	return len(path)
}

func yieldsMessage(path []*session.Entry, from, to int) bool {
	for i := from; i < to; i++ {
		if path[i].IsMessageLike() {
			return true
		}
	}
	return false
}

// droppedByFork reports whether a copy of the branch leaves the entry out or writes it anew, so that
// a boundary naming it would dangle there.
func droppedByFork(e *session.Entry) bool {
	return e.Type == session.TypeLabel || e.Type == session.TypeSessionInfo
}
