package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/tidegate/tidegate/clients/go/internal/hosted"
)

const (
	startTimeout     = 30 * time.Second
	handshakeTimeout = 15 * time.Second
	closeTimeout     = time.Second
	// silentIntervals is the number of intervals without a message after which the connection is considered lost.
	silentIntervals = 3.5
)

// socket is one WebSocket to a gateway of the service. It is registered, and gets calls after workerReady.
type socket struct {
	conn                   *websocket.Conn
	heartbeat, extendEvery time.Duration
	// leaving: its gateway shuts down. The connection's lock guards it.
	leaving bool
	heardAt atomic.Int64
	// lost is why this end has left it.
	lost atomic.Pointer[string]
	// ctx ends with it.
	ctx context.Context
	end context.CancelFunc

	mu sync.Mutex
	// unsent frames, in order.
	unsent  [][]byte
	changed *sync.Cond
	writing bool
}

// openSocket greets the gateway, from the request for its address on. The context is that of opening it. It fails with an
// *Error, *tidegate.ConfigError or *tidegate.ServeError.
func openSocket(ctx context.Context, app hosted.App, instance map[string]any) (*socket, error) {
	started, err := start(ctx, app)
	if err != nil {
		return nil, err
	}
	failed := fmt.Sprintf("The connection to %s has failed: ", started.Endpoint)
	late := errors.New("the gateway does not answer")
	timed, cancel := context.WithTimeoutCause(ctx, handshakeTimeout, late)
	defer cancel()
	options := &websocket.DialOptions{HTTPClient: app.HTTPClient(), Subprotocols: []string{subprotocol}}
	conn, _, err := websocket.Dial(timed, started.Endpoint, options)
	if err == nil {
		// The service bounds its calls.
		conn.SetReadLimit(-1)
		var got intervals
		if got, err = greet(timed, conn, started, instance); err == nil {
			return newSocket(conn, got)
		}
		// The gateway need not answer.
		go conn.Close(websocket.StatusNormalClosure, "")
	}
	var refused *Error
	if errors.As(err, &refused) {
		return nil, err
	}
	if context.Cause(timed) == late {
		err = late
	}
	return nil, &Error{Message: failed + reasonOf(err), cause: err}
}

func newSocket(conn *websocket.Conn, got intervals) (*socket, error) {
	heartbeat, err := time.ParseDuration(got.Heartbeat)
	extend, extendErr := time.ParseDuration(got.ExtendLease)
	if err = errors.Join(err, extendErr); err != nil || heartbeat <= 0 || extend <= 0 {
		_ = conn.CloseNow()
		return nil, &Error{Message: fmt.Sprintf("The gateway has intervals that make no sense: %+v", got), cause: err}
	}
	s := &socket{conn: conn, heartbeat: heartbeat, extendEvery: extend}
	s.changed = sync.NewCond(&s.mu)
	s.ctx, s.end = context.WithCancel(context.Background())
	s.heard()
	return s, nil
}

type started struct {
	ConnectionID string `json:"connectionId"`
	Endpoint     string `json:"gatewayEndpoint"`
	Token        string `json:"sessionToken"`
}

func start(ctx context.Context, app hosted.App) (started, error) {
	answer, err := app.Ask(ctx, "/v0/connect/start", []byte("{}"), startTimeout)
	if err != nil {
		return started{}, err
	}
	var got struct {
		started
		Error string `json:"error"`
		Code  string `json:"code"`
	}
	// A payload that cannot be parsed has none of these fields.
	_ = json.Unmarshal(answer.Body, &got)
	if answer.Status >= 200 && answer.Status < 300 {
		return got.started, nil
	}
	if got.Error == "" {
		got.Error = fmt.Sprintf("it answered %d", answer.Status)
	}
	message := fmt.Sprintf("The service at %s refused the connection: %s%s", answer.BaseURL, got.Error, answer.Hint)
	return started{}, &Error{Message: message, Code: got.Code}
}

func greet(ctx context.Context, conn *websocket.Conn, s started, instance map[string]any) (intervals, error) {
	for {
		f, err := readFrame(ctx, conn)
		if err != nil {
			return intervals{}, err
		}
		switch f.Kind {
		case "gatewayHello":
			who := map[string]any{
				"connectionId":             s.ConnectionID,
				"authData":                 map[string]string{"sessionToken": s.Token, "syncToken": s.Token},
				"workerManualReadinessAck": true,
			}
			for name, value := range instance {
				who[name] = value
			}
			if err := conn.Write(ctx, websocket.MessageText, frameText("workerConnect", who)); err != nil {
				return intervals{}, err
			}
		case "syncFailed":
			why := read[refusal](f)
			return intervals{}, &Error{Message: "The service refused the connection: " + why.Message, Code: why.Code}
		case "gatewayConnectionReady":
			return read[intervals](f), nil
		}
	}
}

func readFrame(ctx context.Context, conn *websocket.Conn) (frame, error) {
	_, text, err := conn.Read(ctx)
	var f frame
	// Frames that cannot be read have no kind, and are passed over.
	_ = json.Unmarshal(text, &f)
	return f, err
}

// send loses what cannot be sent: calls that need a confirmation send again over the next socket.
func (s *socket) send(kind string, payload any) {
	text := frameText(kind, payload)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsent = append(s.unsent, text)
	s.changed.Broadcast()
}

// read reads and writes until the socket is closed, and returns the reason.
func (s *socket) read(onFrame func(frame)) string {
	var beside sync.WaitGroup
	beside.Go(s.write)
	beside.Go(s.beat)
	// Wakes goroutines that wait for frames to send, or for frames to be sent.
	stop := context.AfterFunc(s.ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer stop()
	for {
		f, err := readFrame(s.ctx, s.conn)
		if err != nil {
			s.end()
			beside.Wait()
			if lost := s.lost.Load(); lost != nil {
				return *lost
			}
			return reasonOf(err)
		}
		s.heard()
		onFrame(f)
	}
}

func (s *socket) write() {
	for {
		s.mu.Lock()
		for len(s.unsent) == 0 && s.ctx.Err() == nil {
			s.changed.Wait()
		}
		if s.ctx.Err() != nil {
			s.mu.Unlock()
			return
		}
		text := s.unsent[0]
		s.unsent = s.unsent[1:]
		s.writing = true
		s.mu.Unlock()
		// Reading tells when it is closed.
		_ = s.conn.Write(s.ctx, websocket.MessageText, text)
		s.mu.Lock()
		s.writing = false
		s.changed.Broadcast()
		s.mu.Unlock()
	}
}

func (s *socket) heard() { s.heardAt.Store(time.Now().UnixNano()) }

func (s *socket) beat() {
	every := time.NewTicker(s.heartbeat)
	defer every.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-every.C:
		}
		if float64(time.Now().UnixNano()-s.heardAt.Load()) > silentIntervals*float64(s.heartbeat) {
			reason := "the gateway is silent"
			s.lost.Store(&reason)
			s.close()
			return
		}
		s.send("workerHeartbeat", nothing{})
	}
}

// close closes the socket once all frames are sent, or this takes too long.
func (s *socket) close() {
	late := time.AfterFunc(closeTimeout, s.end)
	defer late.Stop()
	s.mu.Lock()
	for (len(s.unsent) > 0 || s.writing) && s.ctx.Err() == nil {
		s.changed.Wait()
	}
	s.mu.Unlock()
	// It is closed, one way or the other.
	_ = s.conn.Close(websocket.StatusNormalClosure, "")
	s.end()
}

// reasonOf is the gateway's close error, or the innermost error.
func reasonOf(err error) string {
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			err = inner
		}
		return err.Error()
	}
	if closed.Reason == "" {
		return fmt.Sprint(int(closed.Code))
	}
	return fmt.Sprintf("%d %s", int(closed.Code), closed.Reason)
}
