package tidegate

import (
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// Trigger starts a function: EventTrigger, CronTrigger, or several of them in Triggers.
type Trigger interface{ triggers() []trigger }

// trigger is one trigger on the wire.
type trigger struct {
	Event      string `json:"event,omitempty"`
	Expression string `json:"expression,omitempty"`
	Cron       string `json:"cron,omitempty"`
	// Jitter is as on the wire.
	Jitter string `json:"jitter,omitempty"`
	// CatchUp is "all" or absent.
	CatchUp string `json:"catchUp,omitempty"`
	isCron  bool
	jitter  *time.Duration
}

func (t trigger) triggers() []trigger { return []trigger{t} }

type triggerList []trigger

func (l triggerList) triggers() []trigger { return l }

// TriggerOption narrows an EventTrigger.
type TriggerOption func(*trigger)

// If is a condition, CEL over the event: tidegate.If("event.data.total > 100").
func If(expression string) TriggerOption {
	return func(t *trigger) { t.Expression = expression }
}

// EventTrigger starts the function on each event of this name, or of a wildcard such as order/*.
func EventTrigger(name string, options ...TriggerOption) Trigger {
	t := trigger{Event: name}
	for _, option := range options {
		option(&t)
	}
	return t
}

// CronOption changes a CronTrigger.
type CronOption func(*trigger)

// Jitter starts each run up to this much later than its time, by chance: from 1 s to 24 hours. It spreads functions with
// the same schedule.
func Jitter(most time.Duration) CronOption {
	return func(t *trigger) { t.jitter, t.Jitter = &most, timing.Write(most) }
}

// CatchUpAll runs all times that were missed while nothing could run, up to the last 1,000. Without it only the last one
// runs.
func CatchUpAll() CronOption {
	return func(t *trigger) { t.CatchUp = "all" }
}

// CronTrigger starts the function by the clock, in UTC, such as 0 * * * *, or in a time zone:
// TZ=Europe/Berlin 0 9 * * 1.
func CronTrigger(schedule string, options ...CronOption) Trigger {
	t := trigger{Cron: schedule, isCron: true}
	for _, option := range options {
		option(&t)
	}
	return t
}

// Triggers starts the function on any of these, up to ten.
func Triggers(several ...Trigger) Trigger {
	list := triggerList{}
	for _, one := range several {
		list = append(list, one.triggers()...)
	}
	return list
}
