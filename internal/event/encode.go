package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"recap/internal/contract"
)

// TypePrefix and TypeVersion frame the event's name in the CloudEvents type.
const (
	TypePrefix  = "dev.recap.compaction."
	TypeVersion = ".v1"
)

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

var _ Encoder = Encode

// Encode makes the message of an event: its subject, CloudEvents attributes as headers, and body.
// A summary that would make the body larger than MaxBody is left out and named by digest; if the
// body is too large even so, the attempts and warnings of the outcome go too.
func Encode(e contract.Event, summary string) (Message, error) {
	if e.Name == "" || e.Operation == "" || e.Attempt < 1 || e.Ordinal < 0 {
		return Message{}, fmt.Errorf("event %q of operation %q: name, operation and attempt must be set", e.Name, e.Operation)
	}
	if err := e.Session.Validate(); err != nil {
		return Message{}, fmt.Errorf("event %s of operation %s: %w", e.Name, e.Operation, err)
	}
	body := bodyOf(e, summary)
	data, err := marshal(body)
	for shrink := 0; err == nil && len(data) > MaxBody && shrink < len(shrinkers); shrink++ {
		shrinkers[shrink](&body)
		data, err = marshal(body)
	}
	if err != nil {
		return Message{}, fmt.Errorf("event %s: %w", body.ID, err)
	}
	if len(data) > MaxBody {
		return Message{}, fmt.Errorf("event %s: its body has %d bytes, at most %d are allowed", body.ID, len(data), MaxBody)
	}
	return Message{ID: body.ID, Subject: Subject(e), Headers: headers(e, body), Body: data}, nil
}

// shrinkers make a body smaller, the least loss first.
var shrinkers = []func(*Body){
	func(b *Body) {
		if b.Result != nil && b.Result.Summary != "" {
			b.Result.Summary, b.Result.SummaryOmitted = "", true
		}
	},
	func(b *Body) {
		if b.Outcome != nil {
			o := *b.Outcome
			o.Attempts, o.Warnings = nil, nil
			b.Outcome = &o
		}
	},
}

// marshal does not escape <, > and &: bodies are read by people too.
func marshal(b Body) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func bodyOf(e contract.Event, summary string) Body {
	b := Body{
		ID: messageID(e), Event: e.Name, Operation: e.Operation, Attempt: e.Attempt, Ordinal: e.Ordinal, Session: e.Session,
		Trigger: e.Reason, Time: stamp(e.Time), Terminal: e.Terminal, Outcome: e.Outcome, Failed: e.Failed,
		Done: e.Done, Total: e.Total, Message: e.Message, Reason: reasonOf(e.Reason),
	}
	if e.Until != 0 {
		b.Until = stamp(e.Until)
	}
	start, end := TypeAutoStart, TypeAutoEnd
	if e.Reason == contract.ReasonManual {
		start, end = TypeManualStart, TypeManualEnd
	}
	switch {
	case e.Terminal:
		b.Type, b.Action = end, actionSummary
		b.finish(summary)
	case e.Name == contract.EventStarted:
		b.Type, b.Action = start, actionSummary
	case e.Name == contract.EventNotice:
		b.Type, b.Level, b.Source = TypeNotice, e.Level, "compaction"
	default:
		b.Type = "compaction_" + e.Name
	}
	return b
}

// finish fills the reference agents' fields of an end event from the outcome.
func (b *Body) finish(summary string) {
	aborted, retry := false, false
	b.Aborted, b.WillRetry = &aborted, &retry
	o := b.Outcome
	if o == nil {
		return
	}
	retry = o.WillRetry
	switch o.State {
	case contract.StateCommitted, contract.StateReturned:
		b.Result = &Result{
			Summary: summary, SummaryDigest: o.Summary, FirstKeptEntryID: o.FirstKeptEntryID, TokensBefore: o.TokensBefore,
		}
	case contract.StateSkipped, contract.StateStale:
		b.Skipped = true
	case contract.StateCancelled:
		aborted = true
	default:
		b.ErrorMessage = o.Message
	}
}

// messageID is the event's id with its operation made safe for a header.
func messageID(e contract.Event) string {
	e.Operation = Token(e.Operation)
	return e.ID()
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(timeFormat) }

// headers are the CloudEvents attributes in binary mode. In the NATS binding a content type of
// CloudEvents would mean structured mode, so datacontenttype is an attribute like any other.
func headers(e contract.Event, b Body) map[string]string {
	return map[string]string{
		"ce-specversion":     "1.0",
		"ce-id":              b.ID,
		"ce-source":          "/recap/" + headerValue(e.Session.Tenant),
		"ce-type":            TypePrefix + headerValue(e.Name) + TypeVersion,
		"ce-subject":         headerValue(e.Session.Store + "/" + e.Session.ID),
		"ce-time":            b.Time,
		"ce-datacontenttype": "application/json",
		"ce-tenant":          headerValue(e.Session.Tenant),
		"ce-sequence":        fmt.Sprintf("%06d", e.Ordinal),
	}
}

// headerValue percent-encodes what a header must not hold: everything but printable ASCII, and
// space, quote and percent.
func headerValue(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c > ' ' && c < 0x7f && c != '"' && c != '%' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
		}
	}
	return b.String()
}
