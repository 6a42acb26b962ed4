package tidegate

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

const (
	concurrencyLimitsMax = 2
	cancelOnMax          = 5
	orderNameMax         = 100
	day                  = 24 * time.Hour
	// longestWait: the service waits no longer.
	longestWait = 1827 * day
)

// flowCheck collects the first problem, as `<field> must be <allowed>, got <given>`. The service decides: it also checks
// what its settings can change, the upper limits of batches.
type flowCheck struct{ problem string }

// check says what is wrong with flow control; empty: nothing.
func (c FlowControl) check() string {
	check := &flowCheck{}
	check.limits("RunConcurrency", c.RunConcurrency)
	check.limits("Concurrency", c.Concurrency)
	if t := c.Throttle; t != nil {
		check.atLeast("Throttle.Limit", t.Limit, 1)
		check.within("Throttle.Period", t.Period, "1s", "7d")
		check.atLeast("Throttle.Burst", t.Burst, 0)
	}
	if r := c.RateLimit; r != nil {
		check.atLeast("RateLimit.Limit", r.Limit, 1)
		check.within("RateLimit.Period", r.Period, "1s", "24h")
	}
	if d := c.Debounce; d != nil {
		check.within("Debounce.Period", d.Period, "1s", "7d")
		check.wait("Debounce.Timeout", d.Timeout)
	}
	if b := c.BatchEvents; b != nil {
		check.atLeast("BatchEvents.MaxSize", b.MaxSize, 2)
		if b.Timeout < time.Second {
			check.refuse("BatchEvents.Timeout", "a duration of at least 1s", shownLength(b.Timeout))
		}
	}
	if c.Priority != nil {
		check.text("Priority.Run", c.Priority.Run, "a CEL expression")
	}
	if c.Singleton != nil {
		check.oneOf("Singleton.Mode", string(c.Singleton.Mode), "skip", "cancel")
	}
	if o := c.Order; o != nil {
		check.order(*o)
	}
	if t := c.Timeouts; t != nil {
		check.wait("Timeouts.Start", t.Start)
		check.wait("Timeouts.Finish", t.Finish)
	}
	check.cancelOn(c.CancelOn)
	check.conflicts(c)
	return check.problem
}

func (c *flowCheck) order(o Order) {
	c.text("Order.Key", o.Key, "a CEL expression")
	if o.Window != 0 {
		c.within("Order.Window", o.Window, "0s", "1h")
	}
	if o.OnStale != "" {
		c.oneOf("Order.OnStale", string(o.OnStale), "run", "skip")
	}
	if o.OnFailure != "" {
		c.oneOf("Order.OnFailure", string(o.OnFailure), "skip", "block", "park")
	}
	if utf8.RuneCountInString(o.Name) > orderNameMax {
		c.refuse("Order.Name", fmt.Sprintf("a text of at most %d characters", orderNameMax), fmt.Sprintf("%q", o.Name))
	}
}

func (c *flowCheck) limits(field string, limits []Concurrency) {
	if len(limits) > concurrencyLimitsMax {
		c.refuse(field, fmt.Sprintf("at most %d limits", concurrencyLimitsMax), fmt.Sprint(len(limits)))
	}
	for i, limit := range limits {
		at := fmt.Sprintf("%s[%d]", field, i)
		c.atLeast(at+".Limit", limit.Limit, 1)
		if limit.Scope != "" {
			c.oneOf(at+".Scope", string(limit.Scope), "fn", "env", "account")
		}
		if limit.Key == "" && (limit.Scope == ScopeEnv || limit.Scope == ScopeAccount) {
			c.refuse(at+".Key", fmt.Sprintf("a CEL expression because the scope is %q", limit.Scope), "nothing")
		}
	}
}

func (c *flowCheck) cancelOn(events []CancelOn) {
	if len(events) > cancelOnMax {
		c.refuse("CancelOn", fmt.Sprintf("at most %d events", cancelOnMax), fmt.Sprint(len(events)))
	}
	for i, on := range events {
		if on.Event == "" {
			c.refuse(fmt.Sprintf("CancelOn[%d].Event", i), "the name of an event", `""`)
		}
		if on.Timeout < 0 {
			c.refuse(fmt.Sprintf("CancelOn[%d].Timeout", i), `a duration such as "30s" or "7d"`, shownLength(on.Timeout))
		}
	}
}

// conflicts refuses what batches cannot be combined with, because it concerns single events, and an order with a singleton.
func (c *flowCheck) conflicts(flow FlowControl) {
	if flow.Order != nil && flow.Singleton != nil && c.problem == "" {
		c.problem = "Order cannot be combined with Singleton"
	}
	if flow.BatchEvents == nil || c.problem != "" {
		return
	}
	var others []string
	for _, other := range []struct {
		name  string
		isSet bool
	}{
		{"RateLimit", flow.RateLimit != nil},
		{"Idempotency", flow.Idempotency != ""},
		{"Debounce", flow.Debounce != nil},
		{"Singleton", flow.Singleton != nil},
		{"Order", flow.Order != nil},
		{"Priority", flow.Priority != nil},
		{"CancelOn", len(flow.CancelOn) > 0},
	} {
		if other.isSet {
			others = append(others, other.name)
		}
	}
	if len(others) > 0 {
		const known = "only with Concurrency, Throttle and Timeouts"
		c.problem = fmt.Sprintf("BatchEvents cannot be combined with %s, %s", strings.Join(others, ", "), known)
	}
}

func (c *flowCheck) atLeast(field string, given, least int) {
	if given < least {
		c.refuse(field, fmt.Sprintf("a whole number of at least %d", least), fmt.Sprint(given))
	}
}

func (c *flowCheck) within(field string, given time.Duration, least, most string) {
	if given < lengthOf(least) || given > lengthOf(most) {
		c.refuse(field, fmt.Sprintf("a duration from %s to %s", least, most), shownLength(given))
	}
}

// wait may be absent.
func (c *flowCheck) wait(field string, given time.Duration) {
	if given < 0 || given > longestWait {
		c.refuse(field, "a duration from 1ms to 1827d", shownLength(given))
	}
}

func (c *flowCheck) text(field, given, allowed string) {
	if given == "" {
		c.refuse(field, allowed, "nothing")
	}
}

func (c *flowCheck) oneOf(field, given string, names ...string) {
	quoted := make([]string, len(names))
	for i, name := range names {
		if name == given {
			return
		}
		quoted[i] = fmt.Sprintf("%q", name)
	}
	last := len(quoted) - 1
	c.refuse(field, strings.Join(quoted[:last], ", ")+" or "+quoted[last], fmt.Sprintf("%q", given))
}

func (c *flowCheck) refuse(field, allowed, given string) {
	if c.problem == "" {
		c.problem = fmt.Sprintf("%s must be %s, got %s", field, allowed, given)
	}
}

// shownLength is as on the wire, as in the other clients.
func shownLength(d time.Duration) string {
	if d == 0 {
		return "nothing"
	}
	if d < 0 {
		return d.String()
	}
	return fmt.Sprintf("%q", timing.Write(d))
}

// lengthOf reads a constant.
func lengthOf(text string) time.Duration {
	d, err := timing.Parse(text)
	if err != nil {
		panic(err)
	}
	return d
}
