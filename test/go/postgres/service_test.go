package postgres_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

// service is a played one: it stores events once for each deduplication ID, under the IDs that seeds give them, and can fail as networks and services do.
type service struct {
	mu     sync.Mutex
	url    string
	client *tidegate.Client
	// stored are the deduplication IDs of events, in order.
	stored []string
	// ids are their internal ones.
	ids map[string]bool
	// acceptedAt has the hour of each.
	acceptedAt map[string]float64
	hours      float64
	// forgets deduplication IDs at once, as after 24 hours.
	forgets bool
	// fails says what happens to a request with events instead; nil: it is taken. It may have been stored before.
	fails func(events []sentEvent, store func()) (status int, body any)
	// looksUp is false where look-ups fail.
	looksUp bool
	runs    map[string]bool
	// requests with events.
	requests int
	// changed is signaled after each request.
	changed chan struct{}
}

type sentEvent struct {
	Name string          `json:"name"`
	ID   string          `json:"id"`
	Data json.RawMessage `json:"data"`
}

// hangUp is a status: the connection is cut without a response.
const hangUp = -1

func newService(t *testing.T, options tidegate.ClientOpts) *service {
	s := &service{ids: map[string]bool{}, acceptedAt: map[string]float64{}, looksUp: true, runs: map[string]bool{}, changed: make(chan struct{}, 1_000)}
	server := httptest.NewServer(http.HandlerFunc(s.respond))
	t.Cleanup(server.Close)
	s.url = server.URL
	options.BaseURL = s.url
	s.client = newClient(t, options)
	return s
}

func (s *service) respond(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer func() {
		s.mu.Unlock()
		s.changed <- struct{}{}
	}()
	text := must(io.ReadAll(r.Body))
	status, body := http.StatusOK, any(nil)
	switch {
	case strings.HasPrefix(r.URL.Path, "/e/"):
		status, body = s.take(text, r.Header.Get("x-service-event-id-seed"))
	case strings.HasSuffix(r.URL.Path, "/lookup"):
		status, body = s.lookUp(text, map[bool]map[string]bool{true: s.ids, false: s.runs}[r.URL.Path == "/v1/events/lookup"])
	}
	if status == hangUp {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (s *service) take(text []byte, seed string) (int, any) {
	s.requests++
	var events []sentEvent
	if err := json.Unmarshal(text, &events); err != nil {
		return http.StatusBadRequest, map[string]any{"error": err.Error()}
	}
	ids := make([]string, len(events))
	store := func() {
		for i, event := range events {
			ids[i] = internalID(seed, i+1)
			if !s.forgets && slices.Contains(s.stored, event.ID) && s.hours-s.acceptedAt[event.ID] < 24 {
				continue
			}
			s.acceptedAt[event.ID] = s.hours
			s.stored = append(s.stored, event.ID)
			s.ids[ids[i]] = true
		}
	}
	if s.fails != nil {
		if status, body := s.fails(events, store); status != 0 {
			return status, body
		}
	}
	for i, event := range events {
		if strings.HasPrefix(event.Name, "tidegate/") {
			return http.StatusBadRequest, map[string]any{"error": fmt.Sprintf("event %d: its name is reserved", i), "code": "event_invalid", "index": i}
		}
	}
	store()
	return http.StatusOK, map[string]any{"ids": ids, "status": 200}
}

func (s *service) lookUp(text []byte, known map[string]bool) (int, any) {
	var asked struct{ IDs []string }
	if err := json.Unmarshal(text, &asked); err != nil || len(asked.IDs) > 1_000 || !s.looksUp {
		return http.StatusServiceUnavailable, map[string]any{"error": "it cannot tell"}
	}
	data := []any{}
	for _, id := range asked.IDs {
		data = append(data, map[string]any{"id": id, "found": known[id]})
	}
	return http.StatusOK, map[string]any{"data": data}
}

// internalID names an event for a look-up: what the last 4 bytes of the seed and the number add up to. The ULIDs of the real service are in the shared cases
// of seeds.
func internalID(seed string, number int) string { return must(ulidOf(seed, number)) }

// has returns the deduplication IDs of what is stored.
func (s *service) has() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.stored, " ")
}

func (s *service) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}
