package tidegate

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// checkpointRequestsMax in flight. One would leave the service idle meanwhile; more would make smaller groups.
	checkpointRequestsMax = 2
	groupMax              = 50
	// groupLengthMax of the checkpoints in a request, in bytes; a single longer one has a request of its own.
	groupLengthMax = 1_048_576
)

// checkpointGroups: checkpoints of calls that store steps at the same time share a request, which costs app and service
// a fraction of one request each. While requests are in flight, the next group collects; a checkpoint that comes alone
// waits for none.
type checkpointGroups struct {
	mu       sync.Mutex
	waiting  []*groupedCheckpoint
	inFlight int
	// unknown: the service is older than groups.
	unknown atomic.Bool
}

type groupedCheckpoint struct {
	ctx      context.Context
	settings settings
	// baseURL and env are of the service that gets it.
	baseURL, env string
	runID        string
	body         []byte
	outcome      chan checkpointOutcome
}

type checkpointOutcome struct {
	// alone: the call sends it itself.
	alone  bool
	status int
	err    error
}

// sender sends a checkpoint by a request, shared or not.
func (g *checkpointGroups) sender(s settings) sendCheckpoint {
	return func(ctx context.Context, runID string, body []byte) (int, error) {
		timed, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		baseURL, err := s.baseURL()
		if err != nil {
			return 0, err
		}
		own := &groupedCheckpoint{timed, s, baseURL, s.env(), runID, body, make(chan checkpointOutcome, 1)}
		if g.unknown.Load() {
			return own.send()
		}
		g.enter(own)
		select {
		case outcome := <-own.outcome:
			if outcome.alone {
				return own.send()
			}
			return outcome.status, outcome.err
		case <-timed.Done():
			g.forget(own)
			return 0, timed.Err()
		}
	}
}

func (g *checkpointGroups) enter(own *groupedCheckpoint) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, own)
	if g.inFlight < checkpointRequestsMax {
		g.inFlight++
		go g.sendWaiting(g.take())
	}
}

func (g *checkpointGroups) forget(own *groupedCheckpoint) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(other *groupedCheckpoint) bool { return other == own })
}

// sendWaiting sends one group after the other, until none waits.
func (g *checkpointGroups) sendWaiting(group []*groupedCheckpoint) {
	for len(group) > 0 {
		for i, outcome := range g.outcomes(group) {
			group[i].outcome <- outcome
		}
		g.mu.Lock()
		group = g.take()
		if len(group) == 0 {
			g.inFlight--
		}
		g.mu.Unlock()
	}
}

// take removes those for the same service and environment that have waited longest.
func (g *checkpointGroups) take() []*groupedCheckpoint {
	end, length := 0, 0
	for _, one := range g.waiting[:min(len(g.waiting), groupMax)] {
		first := g.waiting[0]
		length += len(one.body)
		fits := one.baseURL == first.baseURL && one.env == first.env && length <= groupLengthMax
		if end > 0 && !fits {
			break
		}
		end++
	}
	group := slices.Clone(g.waiting[:end])
	g.waiting = slices.Delete(g.waiting, 0, end)
	return group
}

func (g *checkpointGroups) outcomes(group []*groupedCheckpoint) []checkpointOutcome {
	if len(group) == 1 {
		status, err := group[0].send()
		return []checkpointOutcome{{status: status, err: err}}
	}
	if g.unknown.Load() {
		return slices.Repeat([]checkpointOutcome{{alone: true}}, len(group))
	}
	bodies := make([][]byte, len(group))
	for i, one := range group {
		bodies[i] = one.body
	}
	body := slices.Concat([]byte(`{"checkpoints":[`), bytes.Join(bodies, []byte(",")), []byte(`]}`))
	// The end of one call does not end the request of the others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(group[0].ctx), storeTimeout)
	defer cancel()
	a, err := postJSON(ctx, "/v1/checkpoints", body, group[0].settings)
	if err == nil && (a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed) {
		g.unknown.Store(true)
		return g.outcomes(group)
	}
	return outcomesIn(a, err, len(group))
}

// outcomesIn: each checkpoint has a status of its own in the response; if there is none, that of the response.
func outcomesIn(a answer, err error, count int) []checkpointOutcome {
	if err != nil || a.status != http.StatusOK {
		return slices.Repeat([]checkpointOutcome{{status: a.status, err: err}}, count)
	}
	var body struct{ Results []struct{ Status int } }
	// Without it, no checkpoint counts as stored.
	_ = json.Unmarshal(a.body, &body)
	outcomes := make([]checkpointOutcome, count)
	for i, result := range body.Results[:min(len(body.Results), count)] {
		outcomes[i].status = result.Status
	}
	return outcomes
}

func (c *groupedCheckpoint) send() (int, error) {
	a, err := postJSON(c.ctx, "/v1/checkpoint/"+escape(c.runID)+"/async", c.body, c.settings)
	return a.status, err
}

func postJSON(ctx context.Context, path string, body []byte, s settings) (answer, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	return askService(ctx, serviceRequest{http.MethodPost, path, header, body}, s)
}
