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
	CodeSectionsHollow   contract.Code = "sectionsHollow"   // G4: most sections without content
	CodeRepetition       contract.Code = "repetition"       // spec/summary §5.6: one unit over and over
	CodeNotSmaller       contract.Code = "notSmaller"       // G5: over nine tenths of its source
	CodeTooLong          contract.Code = "tooLong"          // G5: over the budget of the policy
	CodeTooThin          contract.Code = "tooThin"          // G5: absurdly small for its source
	CodeEchoesTranscript contract.Code = "echoesTranscript" // G6: a copy of the conversation
	CodeEchoesPrompt     contract.Code = "echoesPrompt"     // G6: a copy of the instruction
	CodeEchoesPrevious   contract.Code = "echoesPrevious"   // G6: nothing was merged into the previous summary
	CodeAnchorsMissing   contract.Code = "anchorsMissing"   // G7: must-keep values are missing and do not fit
	CodeInvented         contract.Code = "inventedAnchor"   // G8: names what the source does not have
	CodeChanged          contract.Code = "changedValue"     // G9: a value of the source, changed
	CodeConstraint       contract.Code = "turnedConstraint" // F9: a prohibition turned into its opposite
	CodeStale            contract.Code = "staleWork"        // F11: finished work listed as pending
	CodeAskMissing       contract.Code = "askMissing"       // G10: the latest request is missing
	CodeFalseQuote       contract.Code = "falseQuote"       // G11: words shown as the user's that are not
	CodeRoleChanged      contract.Code = "roleChanged"      // G11: another's words given out as the user's wish
	CodeUnsafeOrder      contract.Code = "unsafeOrder"      // G11: an order to hide, bypass or act without consent
	CodeControlText      contract.Code = "controlText"      // G11: machinery's text taken for the user's wish
	CodeLanguage         contract.Code = "wrongLanguage"    // G12: not in the user's language
	CodeSecret           contract.Code = "secretLeft"       // G13: a credential that masking did not remove
	CodeStructure        contract.Code = "badStructure"     // G14: messages lost, covered twice or pairs split
	CodeNoProgress       contract.Code = "noProgress"       // G15: less than a tenth of the context forgotten
)

// Reasons lists every reason, for metrics that must start at zero.
var Reasons = []contract.Code{
	CodeUnfinished, CodeThinkingOnly, CodeNoSubstance, CodeToolCall, CodeRefusal, CodeOpenFence, CodeCutOff,
	CodeSectionOrder, CodeSectionRepeated, CodeSectionsMissing, CodeSectionsHollow, CodeRepetition, CodeNotSmaller, CodeTooLong,
	CodeTooThin, CodeEchoesTranscript, CodeEchoesPrompt, CodeEchoesPrevious, CodeAnchorsMissing, CodeInvented, CodeChanged,
	CodeConstraint, CodeStale, CodeAskMissing, CodeFalseQuote, CodeRoleChanged, CodeUnsafeOrder, CodeControlText, CodeLanguage,
	CodeSecret, CodeStructure, CodeNoProgress,
}

// Repairs the gate makes by itself. They remove what is no part of the summary, or append facts that
// are certain.
const (
	RepairThinking   contract.Code = "strippedThinking"   // a leading block of leaked reasoning
	RepairWrapper    contract.Code = "strippedWrapper"    // a <summary> element around everything
	RepairFence      contract.Code = "strippedFence"      // a code fence around everything
	RepairPreamble   contract.Code = "strippedPreamble"   // an announcing line before the first heading
	RepairInvented   contract.Code = "strippedInvented"   // G8: list items that name what the source does not have
	RepairAsk        contract.Code = "insertedAsk"        // G10: the latest request, quoted
	RepairReferences contract.Code = "appendedReferences" // G7: must-keep values, pins, errors, open questions
	RepairFiles      contract.Code = "appendedFiles"      // §4c: the file list
	RepairSecrets    contract.Code = "maskedSecrets"      // G13: credentials
)

// Repairs lists every repair, for metrics that must start at zero.
var Repairs = []contract.Code{
	RepairThinking, RepairWrapper, RepairFence, RepairPreamble, RepairInvented, RepairAsk, RepairReferences, RepairFiles, RepairSecrets,
}

// toNext are the reasons for which asking the same candidate again is not worth its price.
var toNext = map[contract.Code]bool{
	CodeNoSubstance: true, CodeRefusal: true, CodeFalseQuote: true, CodeRoleChanged: true, CodeUnsafeOrder: true, CodeControlText: true, CodeSecret: true,
}

// toReject are the reasons no other answer can cure.
var toReject = map[contract.Code]bool{CodeStructure: true, CodeNoProgress: true}

// final are the reasons after which no further check has anything to add.
var final = map[contract.Code]bool{
	CodeThinkingOnly: true, CodeNoSubstance: true, CodeToolCall: true, CodeRefusal: true,
}
