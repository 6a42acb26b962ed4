package replay

import "encoding/json"

// Op is what an app answers a call with while its function is under way (docs/protocol.md#operations).
type Op struct {
	// ID is the SHA-1 of the step's ID.
	ID          string          `json:"id"`
	Code        OpCode          `json:"op"`
	Name        string          `json:"name"`
	DisplayName string          `json:"displayName"`
	Opts        map[string]any  `json:"opts,omitzero"`
	Data        json.RawMessage `json:"data,omitempty"`
	Error       *WireError      `json:"error,omitempty"`
	Timing      *Timing         `json:"timing,omitempty"`
}

// Timing of a step that was run: its start since 1970, and its duration, in nanoseconds.
type Timing struct {
	Start    int64 `json:"a"`
	Duration int64 `json:"b"`
}

// OpCode says what an op asks of the service.
type OpCode string

const (
	OpStepRun        OpCode = "StepRun"
	OpStepPlanned    OpCode = "StepPlanned"
	OpStepError      OpCode = "StepError"
	OpStepFailed     OpCode = "StepFailed"
	OpSleep          OpCode = "Sleep"
	OpWaitForEvent   OpCode = "WaitForEvent"
	OpWaitForSignal  OpCode = "WaitForSignal"
	OpInvokeFunction OpCode = "InvokeFunction"
	OpGateway        OpCode = "Gateway"
	OpAIGateway      OpCode = "AIGateway"
	OpStepNotFound   OpCode = "StepNotFound"
	OpRunComplete    OpCode = "RunComplete"
	OpRunError       OpCode = "RunError"
)

// WireError is an error in responses and memos.
type WireError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
	// Cause is another error, or any value.
	Cause json.RawMessage `json:"cause,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	// Code is a text or a number.
	Code json.RawMessage `json:"code,omitempty"`
	// Source never comes back.
	Source *Source `json:"source,omitempty"`
}

// Source is the line of code at which an error came about, with its neighbors.
type Source struct {
	File  string       `json:"file"`
	Line  int          `json:"line"`
	Lines []SourceLine `json:"lines"`
}

// SourceLine is one line of the source.
type SourceLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}
