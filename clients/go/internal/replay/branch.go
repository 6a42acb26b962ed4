package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// branch is a goroutine of the function: its handler, or one of several that run side by side. Only one of them runs at
// any time, until it needs a memo, so each replay reaches the steps in the same order.
type branch struct {
	session *session
	ctx     context.Context
	body    func(context.Context) error
	// wake resumes a branch that waits.
	wake    chan struct{}
	started bool
	waiting bool
	// ended is closed once all of it is over, its deferred functions too.
	ended chan struct{}
	// in is the group of branches to which the branch belongs; nil for the handler.
	in *group
}

// races says whether the branch is in a race, possibly because an outer branch is.
func (b *branch) races() bool {
	return b.in != nil && (b.in.race || b.in.parent.races())
}

// group is the branches of one Parallel, or of one Race.
type group struct {
	parent *branch
	// race ends with the first branch that ends.
	race    bool
	left    int
	settled bool
	err     error
}

// location is where in a function a context belongs.
type location struct {
	branch *branch
	// step is the name of the step whose code runs now, and hashedID its ID on the wire.
	step, hashedID string
}

type placeKey struct{}

func locationOf(ctx context.Context) (location, bool) {
	p, ok := ctx.Value(placeKey{}).(location)
	return p, ok && p.branch != nil
}

// HashedStepOf is the hashed ID of the step whose code has this context; empty: it is of no step.
func HashedStepOf(ctx context.Context) string {
	at, _ := locationOf(ctx)
	return at.hashedID
}

func (p location) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, placeKey{}, p)
}

func (s *session) newBranch(ctx context.Context, body func(context.Context) error, in *group) *branch {
	b := &branch{session: s, body: body, wake: make(chan struct{}), ended: make(chan struct{}), in: in}
	b.ctx = location{branch: b}.in(ctx)
	s.branches = append(s.branches, b)
	return b
}

// main is all that the branch's goroutine does.
func (b *branch) main() {
	err := error(errExited)
	defer func() {
		if value := recover(); value != nil {
			err = AsPanic(value)
		}
		b.session.finish(b, err)
		close(b.ended)
	}()
	err = b.body(b.ctx)
}

// errExited is the result of a goroutine that ended without returning: by runtime.Goexit, as a failed assertion does.
var errExited = errors.New("the function ended its goroutine (runtime.Goexit) without returning")

// Panic is the panic of a function or of a step.
type Panic struct {
	Value any
	Stack string
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap is the value, when that is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// AsPanic makes an error of a recovered value. It keeps the stack of a panic that a branch has passed on.
func AsPanic(value any) *Panic {
	if p, ok := value.(*Panic); ok {
		return p
	}
	return &Panic{Value: value, Stack: string(debug.Stack())}
}

// park hands the baton back and returns when the branch is resumed. When the call has ended meanwhile, it never does:
// the goroutine unwinds, which no recover can stop. Enter and leave it with the lock.
func (b *branch) park() {
	s := b.session
	b.waiting = true
	s.current = nil
	s.mu.Unlock()
	s.yielded <- struct{}{}
	<-b.wake
	s.mu.Lock()
	if s.over {
		runtime.Goexit()
	}
}
