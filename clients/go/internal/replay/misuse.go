package replay

import "errors"

// Misuse is a step used where it cannot work. No retry would help.
type Misuse struct{ Message string }

func (m *Misuse) Error() string { return m.Message }

// ErrOutside is returned by a step whose context is not a function's.
var ErrOutside error = &Misuse{"A step was called with a context that is not of a function: use the one that the handler is given"}

// ErrEnded is returned by a step that is reached after its call has ended: in a deferred function, as the code
// unwinds, or in a goroutine that outlived its handler.
var ErrEnded = errors.New("the call that this step belongs to has ended")
