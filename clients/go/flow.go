package tidegate

import (
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// FlowControl says when and how often a function runs. It is handed through to the service. Keys and conditions are CEL
// over the event.
type FlowControl struct {
	// Concurrency is how many steps run at the same time.
	Concurrency []Concurrency
	// Throttle is how many runs start within a period; more of them wait.
	Throttle *Throttle
	// RateLimit is how many runs start within a period; more of them are dropped.
	RateLimit *RateLimit
	// Debounce runs the function once events have stopped coming for so long.
	Debounce *Debounce
	// BatchEvents has several events in one run.
	BatchEvents *BatchEvents
	Priority    *Priority
	// Singleton has one run at a time: a new one is skipped, or cancels the old one.
	Singleton *Singleton
	// CancelOn are events that cancel a run.
	CancelOn []CancelOn
	// Idempotency has one run for each value of this, in 24 hours.
	Idempotency string
	// Timeouts are how long a run may wait to start, and take from then.
	Timeouts *Timeouts
}

// Concurrency is a limit of steps at the same time: for the function, or for each value of a key.
type Concurrency struct {
	Limit int `json:"limit"`
	// Key has a limit for each value of it.
	Key string `json:"key,omitempty"`
	// Scope is fn, env or account.
	Scope string `json:"scope,omitempty"`
}

// Throttle of a function.
type Throttle struct {
	Limit  int
	Period time.Duration
	Burst  int
	Key    string
}

// RateLimit of a function.
type RateLimit struct {
	Limit  int
	Period time.Duration
	Key    string
}

// Debounce of a function.
type Debounce struct {
	Period  time.Duration
	Key     string
	Timeout time.Duration
}

// BatchEvents of a function.
type BatchEvents struct {
	MaxSize int
	Timeout time.Duration
	Key     string
}

// Priority of a function's runs: Run gives the seconds by which one goes before others.
type Priority struct {
	Run string `json:"run,omitempty"`
}

// Singleton of a function.
type Singleton struct {
	Key string `json:"key,omitempty"`
	// Mode is skip or cancel.
	Mode string `json:"mode"`
}

// CancelOn is an event that cancels a run.
type CancelOn struct {
	Event string
	// If is CEL: `event` is the one that triggered the run, `async` the one that arrives.
	If string
	// Timeout: only within this time of the run's start.
	Timeout time.Duration
}

// Timeouts of a function's runs.
type Timeouts struct {
	Start  time.Duration
	Finish time.Duration
}

// fields of a registration; what is not set is left out.
type fields map[string]any

func (f fields) text(name, value string) fields {
	if value != "" {
		f[name] = value
	}
	return f
}

func (f fields) number(name string, value int) fields {
	if value != 0 {
		f[name] = value
	}
	return f
}

func (f fields) length(name string, value time.Duration) fields {
	if value != 0 {
		f[name] = timing.Write(value)
	}
	return f
}

// onTheWire is the part of a function's registration that says this.
func (c FlowControl) onTheWire() fields {
	wire := fields{}.text("idempotency", c.Idempotency)
	if len(c.Concurrency) > 0 {
		wire["concurrency"] = concurrencyOnTheWire(c.Concurrency)
	}
	if t := c.Throttle; t != nil {
		wire["throttle"] = fields{"limit": t.Limit}.length("period", t.Period).number("burst", t.Burst).text("key", t.Key)
	}
	if r := c.RateLimit; r != nil {
		wire["rateLimit"] = fields{"limit": r.Limit}.length("period", r.Period).text("key", r.Key)
	}
	if d := c.Debounce; d != nil {
		wire["debounce"] = fields{}.length("period", d.Period).text("key", d.Key).length("timeout", d.Timeout)
	}
	if b := c.BatchEvents; b != nil {
		wire["batchEvents"] = fields{"maxSize": b.MaxSize}.length("timeout", b.Timeout).text("key", b.Key)
	}
	if c.Priority != nil {
		wire["priority"] = c.Priority
	}
	if c.Singleton != nil {
		wire["singleton"] = c.Singleton
	}
	if t := c.Timeouts; t != nil {
		wire["timeouts"] = fields{}.length("start", t.Start).length("finish", t.Finish)
	}
	var cancel []fields
	for _, on := range c.CancelOn {
		cancel = append(cancel, fields{"event": on.Event}.text("if", on.If).length("timeout", on.Timeout))
	}
	if cancel != nil {
		wire["cancel"] = cancel
	}
	return wire
}

// concurrencyOnTheWire is a number when there is nothing more to say.
func concurrencyOnTheWire(several []Concurrency) any {
	if len(several) == 1 && several[0] == (Concurrency{Limit: several[0].Limit}) {
		return several[0].Limit
	}
	return several
}
