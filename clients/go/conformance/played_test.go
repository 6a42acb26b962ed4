package conformance

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

// reply of a played service: a status and a body, or a hang-up.
type reply struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
	hangUp  bool
}

func (r *reply) UnmarshalJSON(text []byte) error {
	if string(text) == `"hang up"` {
		r.hangUp = true
		return nil
	}
	type fields reply
	return readStrictly(text, (*fields)(r))
}

// request that the service is expected to get.
type request struct {
	Method  string             `json:"method"`
	Path    string             `json:"path"`
	Headers map[string]*string `json:"headers"`
	Body    json.RawMessage    `json:"body"`
}

// received is a request that the fake service got.
type received struct {
	method, path string
	header       http.Header
	body         []byte
}

// playedService gives its replies in turn, the last one forever.
type playedService struct {
	url     string
	mu      sync.Mutex
	replies []reply
	got     []received
	// opened makes encrypted values comparable; nil where there are none.
	opened func([]byte) []byte
}

func playService(t *testing.T, replies []reply) *playedService {
	if replies == nil {
		replies = []reply{{Status: http.StatusOK, Body: json.RawMessage("{}")}}
	}
	service := &playedService{replies: replies}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	service.url = server.URL
	return service
}

func (s *playedService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	s.got = append(s.got, received{r.Method, r.RequestURI, r.Header, body})
	answer := s.replies[min(len(s.got), len(s.replies))-1]
	s.mu.Unlock()
	if answer.hangUp {
		panic(http.ErrAbortHandler)
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.Status)
	var text string
	if json.Unmarshal(answer.Body, &text) != nil {
		text = string(answer.Body)
	}
	_, _ = io.WriteString(w, text)
}

func (s *playedService) check(t *testing.T, p places, expected []request) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got) != len(expected) {
		t.Fatalf("expected %d requests, got %d", len(expected), len(s.got))
	}
	always := map[string]string{"content-type": "application/json", "x-service-sdk": "{{sdk}}"}
	for i, want := range expected {
		got := s.got[i]
		if got.method != want.Method || !p.matches(want.Path, got.path) {
			t.Errorf("request %d: expected %s %s, got %s %s", i, want.Method, want.Path, got.method, got.path)
		}
		if want.Method == http.MethodGet {
			delete(always, "content-type")
		}
		p.checkHeaders(t, want.Headers, always, got.header)
		if want.Body != nil {
			p.checkJSON(t, "request", want.Body, s.open(got.body))
		}
	}
}

func (s *playedService) open(body []byte) []byte {
	if s.opened == nil {
		return body
	}
	return s.opened(body)
}

// clientOptions of a case.
type clientOptions struct {
	ID                 string              `json:"id"`
	IsDev              *bool               `json:"is_dev"`
	BaseURL            string              `json:"base_url"`
	EventKey           string              `json:"event_key"`
	SigningKey         string              `json:"signing_key"`
	SigningKeyFallback string              `json:"signing_key_fallback"`
	Env                string              `json:"env"`
	MaxBytes           int                 `json:"max_bytes"`
	AppVersion         string              `json:"app_version"`
	Versioning         tidegate.Versioning `json:"versioning"`
	Checkpoint         *checkpointOptions  `json:"-"`
	middleware         []tidegate.Middleware
	logger             *slog.Logger
}

func (o clientOptions) client(t *testing.T, p places) *tidegate.Client {
	t.Helper()
	client, err := tidegate.NewClient(tidegate.ClientOpts{
		AppID:              o.ID,
		Dev:                o.IsDev,
		BaseURL:            p.fill(o.BaseURL),
		EventKey:           o.EventKey,
		SigningKey:         o.SigningKey,
		SigningKeyFallback: o.SigningKeyFallback,
		Env:                o.Env,
		MaxBytes:           o.MaxBytes,
		AppVersion:         o.AppVersion,
		Versioning:         o.Versioning,
		Checkpoint:         o.Checkpoint.pointer(),
		Middleware:         o.middleware,
		Logger:             o.logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// setEnvironment makes these all the SERVICE_* variables there are.
func setEnvironment(t *testing.T, variables map[string]string, p places) {
	t.Helper()
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "SERVICE_") {
			t.Setenv(name, value) // which puts it back afterwards
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, value := range variables {
		t.Setenv(name, p.fill(value))
	}
}
