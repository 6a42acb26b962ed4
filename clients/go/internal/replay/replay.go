// Package replay runs one call of a function: its code runs from the start, finished steps return their memos, and the
// call ends with the function, or with the first steps that are new. Nothing is remembered between calls.
//
//	settle → the requested step is reached: run it, answer its outcome
//	       → the handler has ended:         answer its output or error
//	       → a memo can be delivered:       deliver one, settle again
//	       → one new step that runs here:   run it at once; go on if a checkpoint takes its outcome, else answer it
//	       → new steps:                     answer them as planned
package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Call is the part of a call request that a replay needs.
type Call struct {
	Memos Memos
	// Order has the hashed IDs of the finished steps, in order of completion.
	Order []string
	// RequestedStep is the hashed ID of the one planned step to run; empty: find out what comes next.
	RequestedStep string
	// DisableImmediateExecution has a single new step planned too, not run at once.
	DisableImmediateExecution bool
	// Checkpoint stores a finished step and says whether the call may continue; nil: the step ends the call. A step that it
	// took is not in the Progress.
	Checkpoint func(Op) bool
}

// Kind of progress.
type ProgressKind int

const (
	Done ProgressKind = iota
	Failed
	Under
)

// Progress is the result of a call.
type Progress struct {
	Kind   ProgressKind
	Output any
	Err    error
	Ops    []Op
	// RetryAfterSeconds of a step that asks for it.
	RetryAfterSeconds *int64
}

// Body is the code of a function.
type Body func(ctx context.Context, now Now) (any, error)

// Now tells where the code of a function is.
type Now interface {
	// Repeating is true while the code is repeating steps of earlier calls.
	Repeating() bool
	// Step is the name of the running step; empty: no step is running.
	Step() string
}

// Run replays the body. All goroutines that it has started have ended when it returns.
func Run(ctx context.Context, call Call, hooks Hooks, body Body) Progress {
	s := &session{
		memos:   call.Memos,
		order:   undelivered(call),
		steps:   map[string]*step{},
		hooks:   hooks,
		yielded: make(chan struct{}, 1),
	}
	s.handler = s.newBranch(ctx, func(ctx context.Context) (err error) {
		s.output, err = body(ctx, where{s, call.RequestedStep != ""})
		return err
	}, nil)
	s.ready = []*branch{s.handler}
	defer s.release()
	for {
		s.settleAll()
		if progress := s.next(call); progress != nil {
			s.mark(progress.Ops)
			return *progress
		}
	}
}

// settleAll runs each branch that can run, one after the other, until no branch can.
func (s *session) settleAll() {
	for {
		s.mu.Lock()
		if len(s.ready) == 0 {
			s.mu.Unlock()
			return
		}
		b := s.ready[0]
		s.ready = s.ready[1:]
		s.current = b
		started := b.started
		b.started, b.waiting = true, false
		s.mu.Unlock()
		if started {
			b.wake <- struct{}{}
		} else {
			go b.main()
		}
		<-s.yielded
	}
}

// next is the result of the call; nil if the code can continue.
func (s *session) next(call Call) *Progress {
	if call.RequestedStep != "" {
		if progress := s.runRequested(call.RequestedStep); progress != nil {
			return progress
		}
	}
	s.mu.Lock()
	end := s.end
	s.mu.Unlock()
	if end != nil && (call.RequestedStep == "" || s.refusedToBegin(end)) {
		return end
	}
	if end == nil {
		delivered, err := s.deliverNext()
		if err != nil {
			return &Progress{Kind: Failed, Err: err}
		}
		if delivered {
			return nil
		}
	}
	if call.RequestedStep != "" {
		return s.notFound(call.RequestedStep)
	}
	pending := s.pending()
	if len(pending) == 0 {
		return &Progress{Kind: Failed, Err: errors.New("the function waits for nothing that could come: only its own goroutine and branches of step.Parallel may call steps")}
	}
	if len(pending) == 1 && pending[0].runsHere() && !call.DisableImmediateExecution {
		return s.runOnTheWay(pending[0], call)
	}
	return s.report(pending)
}

// refusedToBegin says that a failure tells nothing of which steps the function has.
func (s *session) refusedToBegin(end *Progress) bool {
	return end.Kind == Failed && s.hooks.HandlerBegan != nil && !s.hooks.HandlerBegan()
}

// report answers steps that have not been run.
func (s *session) report(steps []*step) *Progress {
	ops := make([]Op, len(steps))
	for i, found := range steps {
		ops[i] = found.op()
		if s.hooks.Values == nil {
			continue
		}
		opts, err := s.hooks.Values.EncodeOpts(found.ctx, found.found())
		if err != nil {
			return &Progress{Kind: Failed, Err: err}
		}
		ops[i].Opts = opts
	}
	return &Progress{Kind: Under, Ops: ops}
}

// runRequested answers nil while the code has not reached the step.
func (s *session) runRequested(hashedID string) *Progress {
	s.mu.Lock()
	found := s.steps[hashedID]
	memo, finished := s.memos[hashedID]
	s.mu.Unlock()
	switch {
	case found == nil:
		return nil
	case finished:
		return &Progress{Kind: Under, Ops: []Op{found.repeat(memo)}}
	case !found.runsHere():
		return s.report([]*step{found})
	default:
		return s.run(found)
	}
}

// pending are the steps that were found, in order, and are not finished.
func (s *session) pending() []*step {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pending []*step
	for _, found := range s.found {
		if !found.delivered {
			pending = append(pending, found)
		}
	}
	return pending
}

// mark says of the ops, while a step of a race is pending, that the function wants to be called again when any step has
// ended: otherwise the service waits for all that are pending.
func (s *session) mark(ops []Op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isPending := func(found *step) bool {
		_, finished := s.memos[found.hashedID]
		return !finished && found.branch.races()
	}
	if !slices.ContainsFunc(s.found, isPending) {
		return
	}
	for i := range ops {
		opts := map[string]any{"parallelMode": "race"}
		maps.Copy(opts, ops[i].Opts)
		ops[i].Opts = opts
	}
}

// where is the Now of a call.
type where struct {
	session *session
	// one: the call is of one planned step, so all that is outside of it repeats an earlier call.
	one bool
}

func (w where) Repeating() bool {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	return len(w.session.order) > 0 || (w.one && w.session.running == "")
}

func (w where) Step() string {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	return w.session.running
}

func (s *session) notFound(hashedID string) *Progress {
	var seen []string
	for _, found := range s.pending() {
		seen = append(seen, fmt.Sprintf("%q", found.displayName))
	}
	if seen == nil {
		seen = []string{"none"}
	}
	failure := &WireError{
		Name: "StepNotFoundError",
		Message: fmt.Sprintf("The function did not reach the planned step %s: its code has changed under the run. "+
			"New steps that it did reach: %s", hashedID, strings.Join(seen, ", ")),
	}
	op := Op{ID: hashedID, Code: OpStepNotFound, Name: hashedID, DisplayName: hashedID, Error: failure}
	return &Progress{Kind: Under, Ops: []Op{op}}
}

// release ends the branches that wait for memos which are not in this call, the last one first, so that a branch is
// gone before what has started it.
func (s *session) release() {
	s.mu.Lock()
	s.over = true
	branches := s.branches
	s.mu.Unlock()
	for _, b := range slices.Backward(branches) {
		s.mu.Lock()
		waiting, started := b.waiting, b.started
		b.waiting = false
		s.mu.Unlock()
		if waiting {
			b.wake <- struct{}{}
		}
		if started {
			<-b.ended
		}
	}
}
