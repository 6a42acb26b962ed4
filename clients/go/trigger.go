package tidegate

// Trigger is what starts a function: EventTrigger, CronTrigger, or several of them in Triggers.
type Trigger interface{ triggers() []trigger }

// trigger is one of them on the wire.
type trigger struct {
	Event      string `json:"event,omitempty"`
	Expression string `json:"expression,omitempty"`
	Cron       string `json:"cron,omitempty"`
	isCron     bool
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

// CronTrigger starts the function by the clock, such as 0 * * * *.
func CronTrigger(schedule string) Trigger { return trigger{Cron: schedule, isCron: true} }

// Triggers starts the function on any of these.
func Triggers(several ...Trigger) Trigger {
	list := triggerList{}
	for _, one := range several {
		list = append(list, one.triggers()...)
	}
	return list
}
