package conformance

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/canonical"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/signature"
)

// appAnswer is what the app is expected to answer.
type appAnswer struct {
	Status  int                `json:"status"`
	Headers map[string]*string `json:"headers"`
	Body    json.RawMessage    `json:"body"`
}

// appRequest is one to the app.
type appRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
	Sign    *struct {
		Key        string  `json:"key"`
		AgeSeconds float64 `json:"age_seconds"`
		// For is the path that it is signed for: absent the request's, null none.
		For json.RawMessage `json:"for"`
	} `json:"sign"`
}

type serveOptions struct {
	Path        string `json:"path"`
	ServeOrigin string `json:"serve_origin"`
}

// appCase is of the topics registration and serving.
type appCase struct {
	titled
	Client      clientOptions     `json:"client"`
	Environment map[string]string `json:"environment"`
	Functions   []functionOptions `json:"functions"`
	Serve       serveOptions      `json:"serve"`
	Request     appRequest        `json:"request"`
	Replies     []reply           `json:"replies"`
	Requests    []request         `json:"requests"`
	Answer      appAnswer         `json:"answer"`
	// Meaning is for the service to say.
	Meaning string `json:"meaning"`
	// opened makes encrypted values comparable.
	opened func([]byte) []byte
}

func registration(t *testing.T, c appCase) {
	service := runAppCase(t, c)
	service.service.check(t, service.places, c.Requests)
}

func serving(t *testing.T, c appCase) { runAppCase(t, c) }

// playedApp is a real server beside a played service.
type playedApp struct {
	service *playedService
	places  places
	server  *httptest.Server
}

func runAppCase(t *testing.T, c appCase) *playedApp {
	a := &playedApp{service: playService(t, c.Replies), places: newPlaces()}
	a.service.opened = c.opened
	a.places["service"] = a.service.url
	var handler http.Handler
	a.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(a.server.Close)
	a.places["host"] = strings.TrimPrefix(a.server.URL, "http://")
	a.places["app"] = a.server.URL + "/api/service"
	setEnvironment(t, c.Environment, a.places)
	client := c.Client.client(t, a.places)
	var functions []tidegate.ServableFunction
	for _, options := range c.Functions {
		functions = append(functions, options.create(t, client))
	}
	serve := tidegate.ServeOpts{Path: c.Serve.Path, Origin: a.places.fill(c.Serve.ServeOrigin)}
	served, err := tidegate.Serve(client, serve, functions...)
	if err != nil {
		t.Fatal(err)
	}
	handler = served
	a.ask(t, c.Request, c.Answer)
	return a
}

// ask sends a request to the app, and compares the response.
func (a *playedApp) ask(t *testing.T, r appRequest, expected appAnswer) {
	t.Helper()
	body := bodyOf(t, a.places.fillJSON(r.Body))
	request, err := http.NewRequestWithContext(t.Context(), r.Method, a.server.URL+a.places.fill(r.Path), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range r.Headers {
		request.Header.Set(name, a.places.fill(value))
		if name == "host" {
			request.Host = a.places.fill(value)
		}
	}
	if r.Sign != nil {
		at := time.Now().Add(-time.Duration(r.Sign.AgeSeconds * float64(time.Second)))
		request.Header.Set("x-service-signature", signature.Sign(body, r.Sign.Key, at))
		signedFor := &r.Path
		if len(r.Sign.For) > 0 {
			read(t, r.Sign.For, &signedFor)
		}
		if signedFor != nil {
			target := signature.TargetOf(*signedFor)
			request.Header.Set("x-service-signature-url", signature.SignURL(target, body, r.Sign.Key, at))
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != expected.Status {
		t.Errorf("expected the status %d, got %d: %s", expected.Status, response.StatusCode, text)
	}
	always := map[string]string{
		"content-type":          "application/json",
		"x-service-sdk":         "{{sdk}}",
		"x-service-framework":   "{{framework}}",
		"x-service-req-version": "2",
	}
	a.places.checkHeaders(t, expected.Headers, always, response.Header)
	if expected.Body != nil {
		a.places.checkJSON(t, "answer", expected.Body, a.service.open(text))
	}
}

// bodyOf: a text as it is, anything else as canonical JSON.
func bodyOf(t *testing.T, body json.RawMessage) []byte {
	t.Helper()
	var text string
	if len(body) == 0 || json.Unmarshal(body, &text) == nil {
		return []byte(text)
	}
	canonicalText, err := canonical.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return canonicalText
}

type replayCase struct {
	titled
	Program program    `json:"program"`
	Call    replayCall `json:"call"`
	// These are of the topic checkpoints.
	Checkpoint       *checkpointOptions `json:"checkpoint"`
	ClientCheckpoint *checkpointOptions `json:"client_checkpoint"`
	Environment      map[string]string  `json:"environment"`
	Answer           appAnswer          `json:"answer"`
	Replies          []reply            `json:"replies"`
	Requests         *[]request         `json:"requests"`
	// Meaning is for the service to say.
	Meaning string `json:"meaning"`
}

type replayCall struct {
	Event                     json.RawMessage `json:"event"`
	Steps                     json.RawMessage `json:"steps"`
	Stack                     *[]string       `json:"stack"`
	Attempt                   int             `json:"attempt"`
	MaxAttempts               *int            `json:"max_attempts"`
	StepID                    string          `json:"step_id"`
	RunID                     string          `json:"run_id"`
	RerunOf                   []string        `json:"rerun_of"`
	DisableImmediateExecution bool            `json:"disable_immediate_execution"`
	// These name the execution of the call, for checkpoints.
	QiID string `json:"qi_id"`
	FnID string `json:"fn_id"`
	// Logs is of the topic logs.
	Logs *bool `json:"logs"`
}

func replaying(t *testing.T, c replayCase) { c.replay(t, devClient(), nil) }

func devClient() clientOptions {
	return clientOptions{ID: "shop", IsDev: tidegate.Ptr(true), BaseURL: "{{service}}"}
}

func (c replayCase) replay(t *testing.T, client clientOptions, opened func([]byte) []byte) {
	client.Checkpoint = c.ClientCheckpoint
	a := runAppCase(t, appCase{
		Client:      client,
		Environment: c.Environment,
		opened:      opened,
		Functions:   []functionOptions{{ID: "fn", Triggers: []triggerOptions{{Event: "order/paid"}}, Program: c.Program, Checkpoint: c.Checkpoint}},
		Request:     appRequest{Method: http.MethodPost, Path: "/api/service?fnId=shop-fn&stepId=" + c.Call.stepID(), Body: c.Call.body(t)},
		Replies:     c.Replies,
		Answer:      c.Answer,
	})
	if c.Requests == nil {
		c.Requests = &[]request{}
	}
	a.service.check(t, a.places, *c.Requests)
}

func (c replayCall) stepID() string {
	if c.StepID == "" {
		return "step"
	}
	return replay.HashID(c.StepID)
}

// body fills up the rest of a call request.
func (c replayCall) body(t *testing.T) json.RawMessage {
	t.Helper()
	names, memos := stepsInOrder(t, c.Steps)
	if c.Stack != nil {
		names = *c.Stack
	}
	stack := []string{}
	for _, name := range names {
		stack = append(stack, replay.HashID(name))
	}
	event := c.Event
	if event == nil {
		event = json.RawMessage(`{"name": "order/paid", "data": {"total": 3}, "id": "evt-1", "ts": 1767225600000}`)
	}
	maxAttempts := 5
	if c.MaxAttempts != nil {
		maxAttempts = *c.MaxAttempts
	}
	runID := c.RunID
	if runID == "" {
		runID = "01HQZX8K2D3F4G5H6J7K8M9N0P"
	}
	ctx := map[string]any{
		"run_id":                      runID,
		"attempt":                     c.Attempt,
		"max_attempts":                maxAttempts,
		"env":                         "production",
		"disable_immediate_execution": c.DisableImmediateExecution,
		"use_api":                     false,
		"stack":                       map[string]any{"stack": stack, "current": len(stack)},
		"step_id":                     "step",
	}
	if c.QiID != "" {
		ctx["qi_id"], ctx["fn_id"] = c.QiID, c.FnID
	}
	if c.RerunOf != nil {
		ctx["rerun_of"] = c.RerunOf
	}
	if c.Logs != nil {
		ctx["logs"] = *c.Logs
	}
	body, err := json.Marshal(map[string]any{
		"event":   event,
		"events":  []json.RawMessage{event},
		"steps":   memos,
		"ctx":     ctx,
		"use_api": false,
		"version": -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// stepsInOrder has the steps' names in the order of the file, and their memos by hash.
func stepsInOrder(t *testing.T, text json.RawMessage) (names []string, memos map[string]json.RawMessage) {
	t.Helper()
	memos = map[string]json.RawMessage{}
	if text == nil {
		return nil, memos
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	must(decoder.Token())
	for decoder.More() {
		name := must(decoder.Token()).(string)
		var memo json.RawMessage
		if err := decoder.Decode(&memo); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		memos[replay.HashID(name)] = memo
	}
	return names, memos
}
