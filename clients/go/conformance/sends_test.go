package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/clock"
)

// fakeClock lets no time pass, and writes down the delays.
type fakeClock struct {
	now      time.Time
	random   float64
	delaysMs []float64
}

func (c *fakeClock) Now() time.Time  { return c.now }
func (c *fakeClock) Random() float64 { return c.random }
func (c *fakeClock) Sleep(_ context.Context, d time.Duration) {
	c.delaysMs = append(c.delaysMs, float64(d)/float64(time.Millisecond))
}

type sendError struct {
	Kind        string    `json:"kind"`
	Status      nullable  `json:"status"`
	Code        nullable  `json:"code"`
	Message     []string  `json:"message"`
	RequestID   nullable  `json:"request_id"`
	AcceptedIDs *[]string `json:"accepted_ids"`
	Seed        nullable  `json:"seed"`
}

// nullable is a field that is named; its value may be null.
type nullable struct {
	named bool
	value any
}

func (n *nullable) UnmarshalJSON(text []byte) error {
	n.named = true
	return json.Unmarshal(text, &n.value)
}

type sendCase struct {
	titled
	Client      clientOptions     `json:"client"`
	Environment map[string]string `json:"environment"`
	Events      events            `json:"events"`
	Seed        string            `json:"seed"`
	Replies     []reply           `json:"replies"`
	Random      float64           `json:"random"`
	Now         *time.Time        `json:"now"`
	Requests    []request         `json:"requests"`
	DelaysMs    []float64         `json:"delays_ms"`
	IDs         *[]string         `json:"ids"`
	Error       *sendError        `json:"error"`
	// opened makes encrypted values comparable.
	opened func([]byte) []byte
}

// events: one, or a list.
type events struct {
	list   []json.RawMessage
	isList bool
}

// raw is the JSON that they were.
func (e events) raw() json.RawMessage {
	if !e.isList {
		return e.list[0]
	}
	return must(json.Marshal(e.list))
}

func (e *events) UnmarshalJSON(text []byte) error {
	e.isList = json.Unmarshal(text, &e.list) == nil
	if !e.isList {
		e.list = []json.RawMessage{slices.Clone(text)}
	}
	return nil
}

// sendTo sends as the case does: one event, or a list. Untyped events have their JSON as they are.
func (e events) sendTo(ctx context.Context, client *tidegate.Client, options ...tidegate.SendOption) ([]string, error) {
	if !e.isList {
		id, err := client.Send(ctx, e.typed()[0], options...)
		if id == "" {
			return nil, err
		}
		return []string{id}, err
	}
	return client.SendMany(ctx, e.typed(), options...)
}

func (e events) typed() []any {
	typed := make([]any, len(e.list))
	for i, text := range e.list {
		var event tidegate.Event
		if err := json.Unmarshal(text, &event); err != nil {
			panic(err)
		}
		typed[i] = event
	}
	return typed
}

func sends(t *testing.T, c sendCase) {
	service := playService(t, c.Replies)
	service.opened = c.opened
	p := newPlaces()
	p["service"] = service.url
	setEnvironment(t, c.Environment, p)
	timing := &fakeClock{now: time.Now(), random: c.Random}
	if c.Now != nil {
		timing.now = *c.Now
	}
	var options []tidegate.SendOption
	if c.Seed != "" {
		options = append(options, tidegate.WithSeed(c.Seed))
	}
	ids, err := c.Events.sendTo(clock.With(t.Context(), timing), c.Client.client(t, p), options...)
	service.check(t, p, c.Requests)
	if !slices.Equal(timing.delaysMs, c.DelaysMs) {
		t.Errorf("expected the delays %v, got %v", c.DelaysMs, timing.delaysMs)
	}
	if c.Error != nil {
		c.Error.check(t, p, err)
	} else if err != nil || c.IDs == nil || !slices.Equal(ids, *c.IDs) {
		t.Errorf("expected the IDs %v, got %v, %v", c.IDs, ids, err)
	}
}

func (e sendError) check(t *testing.T, p places, err error) {
	t.Helper()
	var config *tidegate.ConfigError
	if e.Kind == "config" {
		if !errors.As(err, &config) {
			t.Fatalf("expected a ConfigError, got %v", err)
		}
		p.checkMessage(t, e.Message, config.Message)
		return
	}
	var send *tidegate.SendError
	if !errors.As(err, &send) {
		t.Fatalf("expected a SendError, got %v", err)
	}
	p.checkMessage(t, e.Message, send.Message)
	e.Status.check(t, p, "status", float64(send.Status))
	e.Code.check(t, p, "code", send.Code)
	e.RequestID.check(t, p, "request_id", send.RequestID)
	e.Seed.check(t, p, "seed", send.Seed)
	if e.AcceptedIDs != nil && !slices.Equal(*e.AcceptedIDs, send.AcceptedIDs) {
		t.Errorf("expected the accepted IDs %v, got %v", *e.AcceptedIDs, send.AcceptedIDs)
	}
}

// check compares the field of an error with what the case names; zero is Go's null.
func (n nullable) check(t *testing.T, p places, name string, got any) {
	t.Helper()
	if !n.named {
		return
	}
	if n.value == nil {
		if got != "" && got != 0.0 {
			t.Errorf("%s: expected none, got %v", name, got)
		}
		return
	}
	if err := p.compare(n.value, got, name); err != nil {
		t.Error(err)
	}
}
