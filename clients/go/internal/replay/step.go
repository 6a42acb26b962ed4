package replay

import (
	"context"
	"encoding/json"
)

// Kind of a step decides how it is reported and how its memo is read.
type Kind int

const (
	KindRun Kind = iota
	KindSendEvent
	KindSleep
	KindWait
	KindSignal
	KindInvoke
	KindFetch
	KindInfer
)

// Description is a step as a tool describes it.
type Description struct {
	Kind Kind
	// ID in the code.
	ID string
	// Name on the wire: the event or signal of a wait, the length of a sleep. Empty: the ID.
	Name string
	Opts map[string]any
	// Run is only of steps that run in the app.
	Run func(ctx context.Context, hashedID string) (any, error)
	// Own says that Run is the app's own code, not a request of this library to the service.
	Own bool
}

// step is a step that the replayed code has reached.
type step struct {
	Description
	hashedID string
	// displayName is the ID in the code, numbered when it repeats.
	displayName string
	// ctx is the context with which the code has called the step.
	ctx       context.Context
	branch    *branch
	delivered bool
	data      json.RawMessage
	err       error
}

func (s *step) runsHere() bool { return s.Run != nil }

// op reports a step that has not been run.
func (s *step) op() Op {
	switch s.Kind {
	case KindSleep:
		return s.opAs(OpSleep)
	case KindWait:
		return s.opAs(OpWaitForEvent)
	case KindSignal:
		return s.opAs(OpWaitForSignal)
	case KindInvoke:
		return s.opAs(OpInvokeFunction)
	case KindFetch:
		return s.opAs(OpGateway)
	case KindInfer:
		return s.opAs(OpAIGateway)
	default:
		return s.opAs(OpStepPlanned)
	}
}

func (s *step) opAs(code OpCode) Op {
	return Op{ID: s.hashedID, Code: code, Name: s.Name, DisplayName: s.displayName, Opts: s.Opts}
}
