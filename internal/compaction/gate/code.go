package gate

import "recap/internal/contract"

// Reasons to refuse an answer. The set is closed: they are metric labels and are told to the model
// when it is asked again.
const (
	CodeUnfinished       contract.Code = "unfinished"       // G0: no evidence that the answer is complete
	CodeThinkingOnly     contract.Code = "thinkingOnly"     // nothing but leaked reasoning
	CodeNoSubstance      contract.Code = "noSubstance"      // G1: empty, markup or a placeholder
	CodeToolCall         contract.Code = "toolCall"         // F16: a tool call instead of a summary
	CodeRefusal          contract.Code = "refusal"          // G2: the model declines
	CodeOpenFence        contract.Code = "openFence"        // G3: a code fence is never closed
	CodeCutOff           contract.Code = "cutOff"           // G3: the last sentence breaks off
	CodeSectionOrder     contract.Code = "sectionOrder"     // G4: known headings in another order
	CodeSectionRepeated  contract.Code = "sectionRepeated"  // G4: a known heading twice
	CodeSectionsMissing  contract.Code = "sectionsMissing"  // G4: no section at all
	CodeRepetition       contract.Code = "repetition"       // spec/summary §5.6: one unit over and over
	CodeNotSmaller       contract.Code = "notSmaller"       // G5: over nine tenths of its source
	CodeEchoesTranscript contract.Code = "echoesTranscript" // G6: a copy of the conversation
)

// Reasons lists every reason, for metrics that must start at zero.
var Reasons = []contract.Code{
	CodeUnfinished, CodeThinkingOnly, CodeNoSubstance, CodeToolCall, CodeRefusal, CodeOpenFence, CodeCutOff,
	CodeSectionOrder, CodeSectionRepeated, CodeSectionsMissing, CodeRepetition, CodeNotSmaller, CodeEchoesTranscript,
}

// Repairs the gate makes by itself. Each only removes what is no part of the summary.
const (
	RepairThinking contract.Code = "strippedThinking" // a leading block of leaked reasoning
	RepairWrapper  contract.Code = "strippedWrapper"  // a <summary> element around everything
	RepairFence    contract.Code = "strippedFence"    // a code fence around everything
	RepairPreamble contract.Code = "strippedPreamble" // an announcing line before the first heading
)

// Repairs lists every repair, for metrics that must start at zero.
var Repairs = []contract.Code{RepairThinking, RepairWrapper, RepairFence, RepairPreamble}

// toNext are the reasons for which asking the same candidate again is not worth its price.
var toNext = map[contract.Code]bool{CodeNoSubstance: true, CodeRefusal: true}

// final are the reasons after which no further check has anything to add.
var final = map[contract.Code]bool{
	CodeThinkingOnly: true, CodeNoSubstance: true, CodeToolCall: true, CodeRefusal: true,
}
