package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

// heldRequests: the service holds as many until all calls have run their step.
const heldRequests = 2

type checkpointGroupsCase struct {
	titled
	ResultLength *int  `json:"result_length"`
	Stored       []int `json:"stored"`
	SharedStatus int   `json:"shared_status"`
	Shares       bool  `json:"shares"`
	Answers      []int `json:"answers"`
}

// holdingService holds all requests until it is released.
type holdingService struct {
	c                      checkpointGroupsCase
	released               chan struct{}
	mu                     sync.Mutex
	received               []sharedCheckpoints
	inFlight, mostInFlight int
}

type sharedCheckpoints struct {
	shared bool
	// calls by their numbers.
	calls []int
}

type checkpointOfRun struct {
	RunID string `json:"run_id"`
}

func (s *holdingService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		checkpointOfRun
		Checkpoints []checkpointOfRun
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		panic(err)
	}
	got := sharedCheckpoints{shared: r.URL.Path == "/v1/checkpoints"}
	if !got.shared {
		body.Checkpoints = []checkpointOfRun{body.checkpointOfRun}
	}
	var results []map[string]any
	for _, one := range body.Checkpoints {
		number := must(strconv.Atoi(one.RunID[len(one.RunID)-3:]))
		got.calls = append(got.calls, number)
		results = append(results, map[string]any{"status": s.c.Stored[number], "code": "", "message": ""})
	}
	s.mu.Lock()
	s.received = append(s.received, got)
	s.inFlight++
	s.mostInFlight = max(s.mostInFlight, s.inFlight)
	s.mu.Unlock()
	<-s.released
	s.mu.Lock()
	s.inFlight--
	s.mu.Unlock()
	status := s.c.Stored[got.calls[0]]
	if got.shared {
		status = max(s.c.SharedStatus, http.StatusOK)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
}

func (s *holdingService) has(count int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.received) >= count
}

func checkpointGroups(t *testing.T, c checkpointGroupsCase) {
	setEnvironment(t, nil, nil)
	played := &holdingService{c: c, released: make(chan struct{})}
	service := httptest.NewServer(played)
	t.Cleanup(service.Close)
	release := sync.OnceFunc(func() { close(played.released) })
	t.Cleanup(release)
	length := 1
	if c.ResultLength != nil {
		length = *c.ResultLength
	}
	var ran atomic.Int32
	app := httptest.NewServer(appWithStep(t, service.URL, func() string {
		ran.Add(1)
		return strings.Repeat("x", length)
	}))
	t.Cleanup(app.Close)
	answers := make([]int, len(c.Stored))
	var calls sync.WaitGroup
	for number := range c.Stored {
		call := replayCall{RunID: fmt.Sprintf("01HQZX8K2D3F4G5H6J7K8M9%03d", number), QiID: "q", FnID: "f"}
		body := call.body(t)
		calls.Go(func() {
			response, err := http.Post(app.URL+"/api/service?fnId=shop-fn&stepId=step", "application/json", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			response.Body.Close()
			answers[number] = response.StatusCode
		})
		if number < heldRequests {
			until(t, func() bool { return played.has(number + 1) })
		}
	}
	until(t, func() bool { return int(ran.Load()) == len(c.Stored) })
	release()
	calls.Wait()
	if !slices.Equal(answers, c.Answers) {
		t.Errorf("expected %v, got %v", c.Answers, answers)
	}
	played.check(t)
}

func appWithStep(t *testing.T, service string, result func() string) http.Handler {
	t.Helper()
	client := must(tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), BaseURL: service}))
	handler := func(ctx context.Context, _ tidegate.Input[json.RawMessage]) (any, error) {
		return step.Run(ctx, "a", func(context.Context) (string, error) { return result(), nil })
	}
	fn := must(tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), handler))
	return must(tidegate.Serve(client, tidegate.ServeOpts{}, fn))
}

func (s *holdingService) check(t *testing.T) {
	t.Helper()
	older, shares := s.c.SharedStatus == http.StatusNotFound, false
	var sent, all []int
	for _, got := range s.received {
		shares = shares || got.shared
		if !got.shared || !older {
			sent = append(sent, got.calls...)
		}
	}
	slices.Sort(sent)
	for number := range s.c.Stored {
		all = append(all, number)
	}
	if shares != s.c.Shares || !slices.Equal(sent, all) {
		t.Errorf("got %v", s.received)
	}
	if !older && s.mostInFlight > heldRequests {
		t.Errorf("got %d requests at the same time", s.mostInFlight)
	}
}

func until(t *testing.T, condition func() bool) {
	t.Helper()
	for endsAt := time.Now().Add(20 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(endsAt) {
			t.Fatal("it did not come")
		}
	}
}
