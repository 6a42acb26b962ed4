package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// session is one replay: the steps that it has found so far, the memos that are still to be delivered to them, and the
// goroutines of the function, which take turns.
type session struct {
	mu    sync.Mutex
	memos Memos
	// order of the memos that are undelivered.
	order    []string
	steps    map[string]*step
	found    []*step
	names    Numbering
	hooks    Hooks
	branches []*branch
	// ready are the branches that can continue, the next one first.
	ready []*branch
	// current has the baton; nil while the replay itself has it.
	current *branch
	yielded chan struct{}
	// running is the name of the step that is being run.
	running string
	handler *branch
	end     *Progress
	over    bool
	output  any
}

var errNoID = errors.New("a step needs an ID, a string that is its own in the function")

// Do registers the step and returns its result as JSON if that is known in this call. Otherwise it never
// returns: the calling goroutine ends.
func Do(ctx context.Context, d Description) (json.RawMessage, error) {
	at, ok := locationOf(ctx)
	if !ok {
		return nil, ErrOutside
	}
	if d.ID == "" {
		return nil, errNoID
	}
	s := at.branch.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refusal(at, fmt.Sprintf("Step %q", d.ID)); err != nil {
		return nil, err
	}
	found := s.find(ctx, at.branch, d)
	at.branch.park()
	return found.data, found.err
}

// find makes a step of the description.
func (s *session) find(ctx context.Context, b *branch, d Description) *step {
	if d.Name == "" {
		d.Name = d.ID
	}
	if d.Opts == nil {
		d.Opts = map[string]any{}
	}
	name := s.names.Name(d.ID)
	found := &step{Description: d, hashedID: HashID(name), displayName: name, ctx: ctx, branch: b}
	s.steps[found.hashedID] = found
	s.found = append(s.found, found)
	return found
}

// Parallel runs the bodies side by side, each in a branch of its own, and returns when all have ended, or with the
// first error. Those that have not ended then stay where they are until the call ends.
func Parallel(ctx context.Context, bodies []func(context.Context) error) error {
	return sideBySide(ctx, bodies, false)
}

// Race is like Parallel, but returns when the first function has ended or failed.
func Race(ctx context.Context, bodies []func(context.Context) error) error {
	return sideBySide(ctx, bodies, true)
}

func sideBySide(ctx context.Context, bodies []func(context.Context) error, race bool) error {
	at, ok := locationOf(ctx)
	if !ok {
		return ErrOutside
	}
	s := at.branch.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refusal(at, "A parallel part"); err != nil {
		return err
	}
	if len(bodies) == 0 {
		return nil
	}
	g := &group{parent: at.branch, race: race, left: len(bodies)}
	var branches []*branch
	for _, body := range bodies {
		branches = append(branches, s.newBranch(ctx, body, g))
	}
	s.ready = append(branches, s.ready...)
	at.branch.park()
	if p, ok := g.err.(*Panic); ok {
		panic(p)
	}
	return g.err
}

// refusal says why a step cannot be used here; nil when it can.
func (s *session) refusal(at location, what string) error {
	switch {
	case s.over:
		return ErrEnded
	case at.step != "":
		return nested(what, at.step)
	case s.current == at.branch:
		return nil
	case s.running != "":
		return nested(what, s.running)
	default:
		return &Misuse{what + " was called with a context that is not its own: a branch of step.Parallel uses the one that it is given, and no goroutine but the handler's and these calls steps"}
	}
}

func nested(what, outer string) error {
	return &Misuse{fmt.Sprintf("%s is inside of step %q: steps do not nest. Call it after that step, with its result", what, outer)}
}

// finish takes note of the end of a branch.
func (s *session) finish(b *branch, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hadBaton := s.current == b
	if hadBaton {
		s.current = nil
	}
	if s.over {
		return
	}
	if b.in == nil {
		s.end = &Progress{Kind: Done, Output: s.output}
		if err != nil {
			s.end = &Progress{Kind: Failed, Err: err}
		}
	} else {
		s.settle(b.in, err)
	}
	if hadBaton {
		s.yielded <- struct{}{}
	}
}

func (s *session) settle(g *group, err error) {
	g.left--
	if g.settled || (err == nil && g.left > 0 && !g.race) {
		return
	}
	g.settled, g.err = true, err
	s.ready = append(s.ready, g.parent)
}
