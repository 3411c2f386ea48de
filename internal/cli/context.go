package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"recap/internal/session"
	"recap/internal/store"
)

func (a *app) contextCommand() *cobra.Command {
	var mode string
	cmd := a.command("context SESSION", "Print what a model would be sent of a session",
		"Rebuilds the context as the session's agent does: the summary of the newest compaction, the entries\n"+
			"it kept, and everything since. Needs no server. With --output json: the list of messages.\n\n"+
			"Modes: model (what a model would be sent), raw (the same messages as the session stores them),\n"+
			"transcript (every entry of the path, each compaction in its place), collapsed (the transcript\n"+
			"without what the newest compaction replaced).",
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			return a.context(cmd.Context(), args[0], mode)
		})
	cmd.Flags().StringVar(&mode, "mode", "model", "which `view`: model, raw, transcript or collapsed")
	return cmd
}

// contextModes are the views that context can print (spec/summary §1.7).
var contextModes = map[string]session.ContextOptions{
	"model":      {},
	"raw":        {Raw: true},
	"transcript": {Transcript: true, KeepDangling: true},
	"collapsed":  {Transcript: true, Collapse: true, KeepDangling: true},
}

func contextMode(name string) (session.ContextOptions, error) {
	o, ok := contextModes[name]
	if !ok {
		return o, usagef("--mode %q is unknown (model, raw, transcript or collapsed)", name)
	}
	return o, nil
}

func (a *app) context(ctx context.Context, word, mode string) error {
	view, err := contextMode(mode)
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	t, err := a.open(cfg, word)
	if err != nil {
		return err
	}
	built, err := buildContext(ctx, t.driver, t.ref.ID, view)
	if err != nil {
		return err
	}
	for _, w := range built.Warnings {
		a.notef("warning: %s", printable(w))
	}
	messages := built.Messages
	if mode == "model" {
		messages = session.ToModel(messages)
	}
	list := make([]message, len(messages))
	for i := range messages {
		list[i] = messageOf(&messages[i])
	}
	return a.print(list, func(p *printer) {
		for _, m := range list {
			m.text(p)
		}
	})
}

// buildContext rebuilds the context from as little of the session as it needs.
func buildContext(ctx context.Context, driver store.Driver, id string, view session.ContextOptions) (session.Context, error) {
	for _, scope := range []store.Scope{store.ScopeLive, store.ScopeAll} {
		snap, err := driver.Load(ctx, id, scope)
		if err != nil {
			return session.Context{}, err
		}
		built, err := session.BuildContext(snap.Log(), snap, view)
		if closed := snap.Close(); err == nil {
			err = closed
		}
		if scope == store.ScopeLive && (errors.Is(err, session.ErrPartial) || isType[*session.PathError](err)) {
			continue // only the whole session tells what is wrong with it
		}
		if path, ok := errors.AsType[*session.PathError](err); ok {
			return built, &store.Error{Kind: store.KindDamaged, ID: id, Msg: "the path to the leaf is broken", Err: path}
		}
		return built, err
	}
	return session.Context{}, session.ErrPartial // the last scope has returned
}

// message is a message as context prints it, in the field names of the session files.
type message struct {
	EntryID    string    `json:"entryId,omitempty"`
	Role       string    `json:"role"`
	Content    []content `json:"content"`
	Provider   string    `json:"provider,omitempty"`
	Model      string    `json:"model,omitempty"`
	StopReason string    `json:"stopReason,omitempty"`
	ToolCallID string    `json:"toolCallId,omitempty"`
	ToolName   string    `json:"toolName,omitempty"`
	IsError    bool      `json:"isError,omitempty"`
	Timestamp  int64     `json:"timestamp,omitempty"` // Unix ms
}

// content is one block of a message. Of an image only its kind and size are printed.
type content struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	MimeType  string          `json:"mimeType,omitempty"`
	DataBytes int             `json:"dataBytes,omitempty"` // base64
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

func messageOf(m *session.Message) message {
	out := message{
		EntryID: m.EntryID, Role: m.Role, Content: make([]content, len(m.Content)), Provider: m.Provider, Model: m.Model,
		StopReason: m.StopReason, ToolCallID: m.ToolCallID, ToolName: m.ToolName, IsError: m.IsError, Timestamp: m.Timestamp,
	}
	for i, b := range m.Content {
		c := content{Type: b.Type, Signature: b.Signature, MimeType: b.MimeType, DataBytes: b.DataLen, ID: b.ID, Name: b.Name}
		switch b.Type {
		case session.BlockText:
			c.Text = &b.Text
		case session.BlockThinking, session.BlockRedactedThinking:
			c.Thinking = &b.Text
		case session.BlockToolCall:
			if json.Valid(b.Arguments) {
				c.Arguments = b.Arguments
			}
		}
		out.Content[i] = c
	}
	for _, text := range stored(m) {
		out.Content = append(out.Content, content{Type: session.BlockText, Text: &text})
	}
	return out
}

// stored are the texts that the session's own roles keep outside of content blocks.
func stored(m *session.Message) []string {
	var list []string
	if m.Summary != "" {
		list = append(list, m.Summary)
	}
	if m.Command != "" || m.Output != "" {
		list = append(list, m.Command, m.Output)
	}
	for _, f := range m.Files {
		list = append(list, f.Path)
	}
	return list
}

func (m message) text(p *printer) {
	title := m.Role
	switch {
	case m.ToolName != "":
		title += " " + m.ToolName
	case m.Model != "":
		title += " " + m.Model
	}
	if m.IsError {
		title += " (error)"
	}
	if m.EntryID != "" {
		title += "  [" + m.EntryID + "]"
	}
	p.heading("── %s", printable(title))
	for _, c := range m.Content {
		p.block(c.line())
	}
}

func (c content) line() string {
	switch {
	case c.Text != nil:
		return *c.Text
	case c.Thinking != nil:
		return "(thinking) " + *c.Thinking
	case c.Type == session.BlockToolCall:
		return fmt.Sprintf("→ %s %s", c.Name, strings.TrimSpace(string(c.Arguments)))
	case c.Type == session.BlockImage:
		return fmt.Sprintf("(image %s, %s bytes)", c.MimeType, grouped(c.DataBytes*3/4))
	}
	return "(" + c.Type + ")"
}
