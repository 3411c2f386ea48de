// Package compaction decides what one compaction of a session does, before any model is asked: what
// is summarised, what stays, which requests are sent, and how their answers become one entry
// (DESIGN §5, spec/summary §4, §5, §9). The decision is a Plan, which is stored and then only
// followed.
//
// The package is pure: the clock is an argument, stored bodies are read through session.Bodies. It
// may import contract, session, tokens, prompts and its own sub-packages.
package compaction
