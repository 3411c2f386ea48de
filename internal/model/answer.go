package model

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"recap/internal/contract"
)

// Why an answer is not one, for people. Errors of step 7 never quote the answer's text.
var (
	errNotJSON       = errors.New("the server sent something else than an answer of this API")
	errNoAnswer      = errors.New("the stream ended before any answer came")
	errOnlyReasoning = errors.New("the answer holds reasoning but no text")
	errNoText        = errors.New("the answer holds no text")
	errNoTextAtCap   = errors.New("the output cap was reached before any text came")
	errCutOff        = errors.New("the answer was cut off at its output cap")
	errNoTerminator  = errors.New("the stream ended without its terminator")
	errNoFinish      = errors.New("the answer has no finish reason")
	errToolCall      = errors.New("the answer is a tool call, not a text")
	errRefused       = errors.New("the provider refused to answer")
	errProviderBroke = errors.New("the provider gave up on the answer")
	errInputCut      = errors.New("the provider read less than it was sent: its window is smaller than configured")
	errInputOver     = errors.New("the prompt is larger than the candidate's window")
)

// Finish reasons by what they mean, lower case, of every API that is spoken here or behind a
// gateway. A reason that is not listed is not a finished answer.
var finishMeaning = map[string]Class{
	"stop": "", "end_turn": "", "stop_sequence": "", "eos": "", "eos_token": "", "completed": "", "complete": "",

	"length": ClassTruncated, "max_tokens": ClassTruncated, "max_output_tokens": ClassTruncated,
	"incomplete": ClassTruncated, "pause_turn": ClassTruncated, "model_length": ClassTruncated,
	"model_context_window_exceeded": ClassTruncated,

	"content_filter": ClassRefused, "refusal": ClassRefused, "safety": ClassRefused, "recitation": ClassRefused,
	"blocklist": ClassRefused, "prohibited_content": ClassRefused, "spii": ClassRefused, "language": ClassRefused,
	"guardrail_intervened": ClassRefused, "content_filtered": ClassRefused,

	"tool_calls": ClassBadOutput, "tool_use": ClassBadOutput, "function_call": ClassBadOutput,
	"malformed_function_call": ClassBadOutput, "unexpected_tool_call": ClassBadOutput,
	"malformed_model_output": ClassBadOutput, "malformed_tool_use": ClassBadOutput,

	"error": ClassTransient, "other": ClassTransient, "load": ClassTransient,
}

// writtenCall is a tool call that a model wrote as text instead of making it. Only an answer that
// starts with one is meant; a summary may quote one.
var writtenCall = regexp.MustCompile(`^\s*(?:<(?:antml:)?(?:tool_calls?|function_calls|invoke|tool_use)\b|<\|tool_call|\[TOOL_CALLS\])`)

// classifyAnswer is step 7: the validation of a 2xx.
func (e *Evidence) classifyAnswer() *Error {
	if e.Undecoded {
		return &Error{Class: ClassTransient, Phase: PhaseDecode, Err: errNotJSON}
	}
	fail := func(class Class, why error) *Error {
		return &Error{Class: class, Phase: PhaseValidate, Code: e.Finish, Err: why}
	}
	meaning, known := finishMeaning[strings.ToLower(e.Finish)]
	text := strings.TrimSpace(e.Text) != ""
	switch {
	case e.Refusal || meaning == ClassRefused:
		return fail(ClassRefused, errRefused)
	case e.ToolCall:
		return fail(ClassBadOutput, errToolCall)
	case e.Finish == "" && !e.Terminated && !text && !e.Reasoning:
		return fail(ClassTransient, errNoAnswer)
	case e.Finish != "" && !known:
		return fail(ClassBadOutput, fmt.Errorf("finish reason %q is not one that means done", clip(e.Finish, 40)))
	case meaning == ClassTransient:
		return fail(ClassTransient, errProviderBroke)
	case meaning == ClassBadOutput:
		return fail(ClassBadOutput, errToolCall)
	}
	if err := e.overflowed(meaning, text); err != nil {
		return err
	}
	switch {
	case !e.Terminated && !text:
		return fail(ClassTransient, errNoTerminator)
	case !text && meaning == ClassTruncated:
		return fail(ClassEmpty, errNoTextAtCap)
	case !text && e.Reasoning:
		return fail(ClassEmpty, errOnlyReasoning)
	case !text:
		return fail(ClassEmpty, errNoText)
	case meaning == ClassTruncated:
		return fail(ClassTruncated, errCutOff)
	case !e.Terminated:
		return fail(ClassTruncated, errNoTerminator)
	case e.Finish == "":
		return fail(ClassTruncated, errNoFinish)
	case writtenCall.MatchString(e.Text):
		return fail(ClassBadOutput, errToolCall)
	}
	return nil
}

// Bounds of the check for a prompt that was cut without a word (spec/providers §3.4). A provider
// never needs fewer than one token for maxBytesPerToken bytes of real text, so a report below 0.6
// of that is no tokenizer's doing. Short prompts prove nothing.
const (
	maxBytesPerToken = 6
	minSilentTokens  = 1000
	halfWindowSlack  = 8
)

// overflowed finds an overflow that no error reports.
func (e *Evidence) overflowed(meaning Class, text bool) *Error {
	over := func(used int, why error) *Error {
		return &Error{Class: ClassOverflow, Phase: PhaseValidate, Code: e.Finish, Used: used, Max: e.Window, Err: why}
	}
	prompt, ok := e.reported()
	if strings.EqualFold(e.Finish, "model_context_window_exceeded") && !text {
		return over(prompt, errInputOver)
	}
	if !ok {
		return nil
	}
	if e.Window > 0 {
		switch {
		case prompt > e.Window:
			return over(prompt, errInputOver)
		case !text && meaning == ClassTruncated && e.usage().OutputTokens == 0 && prompt*100 >= e.Window*99:
			return over(prompt, errInputOver)
		}
	}
	least := e.InputBytes / maxBytesPerToken
	if least < minSilentTokens || prompt >= least {
		return nil
	}
	half := e.Window/2 - prompt
	if prompt*10 < least*6 || (e.Window > 0 && half <= halfWindowSlack && half >= -halfWindowSlack) {
		err := over(e.InputTokens, errInputCut)
		err.Max = prompt
		return err
	}
	return nil
}

// Finish turns the evidence of a request into its answer or its classified error. Where the
// provider reports no usage, the answer carries an estimate that says so.
func Finish(e Evidence) (Answer, error) {
	think := false
	if e.Text, think = StripThinking(e.Text); think {
		e.Reasoning = true
	}
	if err := Classify(e); err != nil {
		return Answer{}, err
	}
	usage := contract.Usage{InputTokens: e.InputTokens, OutputTokens: (len(e.Text) + 3) / 4, Estimated: true}
	if e.Usage != nil {
		usage = *e.Usage
	}
	return Answer{
		Text: e.Text, FinishReason: e.Finish, Model: e.Model, RequestID: e.requestID(), Usage: usage,
	}, nil
}
