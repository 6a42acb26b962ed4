package tidegate

import (
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// fields of a registration; fields that are not set are left out.
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
	if concurrency := c.concurrencyOnTheWire(); concurrency != nil {
		wire["concurrency"] = concurrency
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
		wire["batchEvents"] = fields{"maxSize": b.MaxSize}.length("timeout", b.Timeout).text("key", b.Key).text("if", b.If)
	}
	if c.Priority != nil {
		wire["priority"] = c.Priority
	}
	if c.Singleton != nil {
		wire["singleton"] = c.Singleton
	}
	if o := c.Order; o != nil {
		wire["order"] = fields{"key": o.Key}.text("by", o.By).length("window", o.Window).text("onStale", string(o.OnStale)).
			text("onFailure", string(o.OnFailure)).text("name", o.Name)
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

// concurrencyOnTheWire is a number when there is nothing more to say, and nil without limits.
func (c FlowControl) concurrencyOnTheWire() any {
	steps, runs := c.Concurrency, c.RunConcurrency
	switch {
	case len(runs) > 0 && len(steps) > 0:
		return fields{"fn": runs, "step": steps}
	case len(runs) > 0:
		return fields{"fn": runs}
	case len(steps) == 1 && steps[0] == Concurrency{Limit: steps[0].Limit}:
		return steps[0].Limit
	case len(steps) > 0:
		return steps
	default:
		return nil
	}
}
