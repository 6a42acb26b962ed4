package connect

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/hosted"
)

const (
	// confirmTimeout: a connection confirms a reply within this time, or a request brings it.
	confirmTimeout = 5 * time.Second
	storeTimeout   = 10 * time.Second
	// flushFor is how long replies are flushed: the service keeps a call without a lease no longer.
	flushFor        = 5 * time.Minute
	flushTryTimeout = 10 * time.Second
	// Statuses of a checkpoint without a response: the call ends with its steps.
	superseded = http.StatusConflict
	unanswered = http.StatusGatewayTimeout
)

// calls are the calls that an instance is working on. They outlive a socket: after a break they continue over the next one, and a
// reply that no socket confirms is sent by an HTTP request.
type calls struct {
	app hosted.App
	// ctx is that of the functions.
	ctx context.Context

	mu             sync.Mutex
	inFlight       map[string]*call
	checkpoints    map[string]*pendingCheckpoint
	lastCheckpoint int
	socket         *socket
	stopExtending  context.CancelFunc
	// idlers are closed when no call is in flight.
	idlers []chan struct{}
}

type call struct {
	request callRequest
	// lost: the service has given it to another instance, or counts it as failed.
	lost  bool
	reply *reply
	// confirmed is closed when the service has the reply.
	confirmed chan struct{}
}

type pendingCheckpoint struct {
	checkpoint checkpoint
	status     chan int
}

func newCalls(ctx context.Context, app hosted.App) *calls {
	return &calls{
		app:           app,
		ctx:           ctx,
		inFlight:      map[string]*call{},
		checkpoints:   map[string]*pendingCheckpoint{},
		stopExtending: func() {},
	}
}

// idle is closed when no call is in flight.
func (k *calls) idle() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	idler := make(chan struct{})
	k.idlers = append(k.idlers, idler)
	k.tellIdlers()
	return idler
}

// tellIdlers is called with the lock.
func (k *calls) tellIdlers() {
	if len(k.inFlight) > 0 {
		return
	}
	for _, idler := range k.idlers {
		close(idler)
	}
	k.idlers = nil
}

// use continues over this socket; nil: over no socket until there is another one.
func (k *calls) use(s *socket) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopExtending()
	k.socket = s
	if s == nil {
		return
	}
	k.extendAll()
	for _, c := range k.inFlight {
		if c.reply != nil {
			s.send("workerReply", c.reply)
		}
	}
	for _, pending := range k.checkpoints {
		s.send("workerCheckpoint", pending.checkpoint)
	}
	var extending context.Context
	extending, k.stopExtending = context.WithCancel(s.ctx)
	go k.keepExtending(extending, s.extendEvery)
}

func (k *calls) receive(f frame, s *socket) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch f.Kind {
	case "gatewayExecutorRequest":
		k.take(read[callRequest](f), s)
	case "workerRequestExtendLeaseAck":
		k.extended(read[extendLeaseAck](f))
	case "workerReplyAck":
		if c := k.inFlight[read[requestAck](f).RequestID]; c != nil {
			c.confirm()
		}
	case "workerCheckpointAck":
		ack := read[checkpointAck](f)
		if pending := k.checkpoints[ack.CheckpointID]; pending != nil {
			delete(k.checkpoints, ack.CheckpointID)
			pending.status <- ack.Status
		}
	}
}

// confirm is called with the lock.
func (c *call) confirm() {
	select {
	case <-c.confirmed:
	default:
		close(c.confirmed)
	}
}

// take is called with the lock.
func (k *calls) take(request callRequest, s *socket) {
	s.send("workerRequestAck", requestAck{request.RequestID})
	if c := k.inFlight[request.RequestID]; c != nil {
		// Its acknowledgement was lost with a connection, so the service has sent it again.
		c.request, c.lost = request, false
		if c.reply != nil {
			s.send("workerReply", c.reply)
		}
		return
	}
	c := &call{request: request, confirmed: make(chan struct{})}
	k.inFlight[request.RequestID] = c
	go k.work(c, request)
}

func (k *calls) work(c *call, request callRequest) {
	stepID := request.StepID
	if stepID == "" {
		stepID = "step"
	}
	answer := k.app.Run(k.ctx, hosted.Call{
		Body:       []byte(request.RequestPayload),
		FunctionID: request.FunctionSlug,
		StepID:     stepID,
		SendCheckpoint: func(ctx context.Context, runID string, body []byte) (int, error) {
			return k.sendCheckpoint(ctx, c, runID, body), nil
		},
	})
	whole := replyOf(request.RequestID, k.app.SDK, answer, maxFrameBytes)
	k.deliver(c, &whole)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.inFlight, request.RequestID)
	k.tellIdlers()
}

func (k *calls) deliver(c *call, r *reply) {
	k.mu.Lock()
	c.reply = r
	lost, connected := c.lost, k.socket != nil
	if !lost && connected {
		k.socket.send("workerReply", r)
	}
	k.mu.Unlock()
	if lost {
		return
	}
	if connected {
		select {
		case <-c.confirmed:
			return
		case <-time.After(confirmTimeout):
		}
	}
	k.flush(c, r)
}

func (k *calls) flush(c *call, r *reply) {
	ctx, cancel := context.WithTimeout(k.ctx, flushFor)
	defer cancel()
	go func() {
		select {
		case <-c.confirmed:
			cancel()
		case <-ctx.Done():
		}
	}()
	body := encode(r)
	for tries := 0; ctx.Err() == nil; tries++ {
		answer, err := k.app.Ask(ctx, "/v0/connect/flush", body, flushTryTimeout)
		switch {
		case err != nil:
			// It cannot be reached now.
		case answer.Status >= 200 && answer.Status < 300:
			return
		case answer.Status == http.StatusBadRequest, answer.Status == http.StatusRequestEntityTooLarge:
			k.app.Logger().Error("The service refused the reply to a call", "answer", string(answer.Body))
			return
		}
		pause(ctx, backoff(ctx, tries))
	}
}

// sendCheckpoint returns the status; after a break the next socket repeats it.
func (k *calls) sendCheckpoint(ctx context.Context, c *call, runID string, body []byte) int {
	k.mu.Lock()
	if c.lost {
		k.mu.Unlock()
		return superseded
	}
	k.lastCheckpoint++
	id := strconv.Itoa(k.lastCheckpoint)
	pending := &pendingCheckpoint{checkpoint{id, runID, string(body)}, make(chan int, 1)}
	k.checkpoints[id] = pending
	if k.socket != nil {
		k.socket.send("workerCheckpoint", pending.checkpoint)
	}
	k.mu.Unlock()
	select {
	case status := <-pending.status:
		return status
	case <-time.After(storeTimeout):
	case <-ctx.Done():
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.checkpoints, id)
	return unanswered
}

func (k *calls) keepExtending(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		k.mu.Lock()
		k.extendAll()
		k.mu.Unlock()
	}
}

// extendAll is called with the lock.
func (k *calls) extendAll() {
	for _, c := range k.inFlight {
		if k.socket != nil && !c.lost {
			k.socket.send("workerRequestExtendLease", extendLease{c.request.RequestID, c.request.LeaseID})
		}
	}
}

// extended is called with the lock.
func (k *calls) extended(ack extendLeaseAck) {
	c := k.inFlight[ack.RequestID]
	switch {
	case c == nil:
	case ack.NewLeaseID == "":
		c.lost = true
	default:
		c.request.LeaseID = ack.NewLeaseID
	}
}
