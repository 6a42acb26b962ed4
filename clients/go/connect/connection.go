package connect

import (
	"context"
	"errors"
	"sync"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/hosted"
)

// State of a connection.
type State string

// States, in the order in which a connection may have them.
const (
	Connecting   State = "connecting"
	Ready        State = "ready"        // for calls
	Reconnecting State = "reconnecting" // after a break
	Closing      State = "closing"      // while the last calls end
	Closed       State = "closed"
)

// Connection keeps an app connected: one WebSocket after another, until Close.
type Connection struct {
	app      hosted.App
	calls    *calls
	instance map[string]any
	onState  func(State)
	// ctx ends when it is closed.
	ctx context.Context
	end context.CancelFunc
	// background are the goroutines that read, reconnect and close sockets.
	background sync.WaitGroup

	mu     sync.Mutex
	state  State
	socket *socket
	// connecting: a goroutine does, until a socket is there.
	connecting  bool
	lastTrouble string
	// untold states are for onState. Telling has them told in their order.
	untold  []State
	telling sync.Mutex
}

// State of now.
func (c *Connection) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Close takes no more calls, and returns when all calls in flight have ended and the connection is closed. If the context
// ends before, it closes the connection at once, ends the contexts of the calls, and returns the context's error.
func (c *Connection) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.state == Closed {
		c.mu.Unlock()
		return nil
	}
	c.become(Closing)
	if c.socket != nil {
		c.socket.send("workerPause", nothing{})
	}
	c.mu.Unlock()
	c.tell()
	err := c.drained(ctx)
	c.end()
	c.calls.use(nil)
	c.mu.Lock()
	last := c.socket
	c.socket = nil
	c.mu.Unlock()
	if last != nil {
		last.close()
	}
	c.background.Wait()
	c.mu.Lock()
	c.become(Closed)
	c.mu.Unlock()
	c.tell()
	return err
}

func (c *Connection) drained(ctx context.Context) error {
	select {
	case <-c.calls.idle():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connect returns when the app gets calls, or the context ends. It fails with an *Error or *tidegate.ConfigError: a refusal
// ends the start.
func (c *Connection) connect(ctx context.Context) error {
	for tries := 0; c.needsSocket(); tries++ {
		s, err := openSocket(ctx, c.app, c.instance)
		if err == nil {
			c.use(s)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !passes(err) && c.State() == Connecting {
			return err
		}
		c.warn(err.Error())
		pause(ctx, backoff(ctx, tries))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func passes(err error) bool {
	var refused *Error
	var unreachable *tidegate.ServeError
	return errors.As(err, &refused) && refused.Passes() || errors.As(err, &unreachable)
}

func (c *Connection) needsSocket() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	needs := c.ctx.Err() == nil && (c.socket == nil || c.socket.leaving)
	if !needs {
		c.connecting = false
	}
	return needs
}

func (c *Connection) use(s *socket) {
	c.mu.Lock()
	if c.ctx.Err() != nil {
		c.mu.Unlock()
		s.close()
		return
	}
	former := c.socket
	c.socket = s
	// If it ends at once, another goroutine connects again: who opened the app does not wait for that.
	c.connecting = false
	// The leases first: calls in flight then count before the gateway sends others.
	c.calls.use(s)
	again := c.lastTrouble != "" && c.state != Closing
	if c.state != Closing {
		s.send("workerReady", nothing{})
		c.lastTrouble = ""
		c.become(Ready)
	}
	c.background.Go(func() { c.read(s) })
	if former != nil {
		c.background.Go(former.close)
	}
	c.mu.Unlock()
	if again {
		c.app.Logger().Info("Connected to the service again")
	}
	c.tell()
}

func (c *Connection) read(s *socket) {
	reason := s.read(func(f frame) { c.receive(f, s) })
	c.mu.Lock()
	if s != c.socket {
		c.mu.Unlock()
		return
	}
	c.socket = nil
	c.calls.use(nil)
	if c.state == Ready {
		c.become(Reconnecting)
	}
	c.reconnect()
	c.mu.Unlock()
	c.tell()
	c.warn("The connection to the service has ended: " + reason)
}

func (c *Connection) receive(f frame, s *socket) {
	if f.Kind != "gatewayClosing" {
		c.calls.receive(f, s)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.leaving = true
	c.reconnect()
}

// reconnect is called with the lock.
func (c *Connection) reconnect() {
	if c.connecting || c.ctx.Err() != nil {
		return
	}
	c.connecting = true
	c.background.Go(func() {
		// The instances of a gateway do not all come at once.
		pause(c.ctx, jitter(c.ctx))
		// It only fails when the connection is closed.
		_ = c.connect(c.ctx)
	})
}

// become is called with the lock, and tell without it.
func (c *Connection) become(state State) {
	if state != c.state {
		c.state = state
		c.untold = append(c.untold, state)
	}
}

func (c *Connection) tell() {
	c.telling.Lock()
	defer c.telling.Unlock()
	for {
		c.mu.Lock()
		untold := c.untold
		c.untold = nil
		c.mu.Unlock()
		if len(untold) == 0 {
			return
		}
		for _, state := range untold {
			c.onState(state)
		}
	}
}

// warn says the same trouble once.
func (c *Connection) warn(message string) {
	c.mu.Lock()
	same := message == c.lastTrouble
	c.lastTrouble = message
	c.mu.Unlock()
	if !same {
		c.app.Logger().Warn(message)
	}
}
