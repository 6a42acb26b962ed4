package tidegate

import "time"

// FlowControl says how many runs of a function there are, which, and when. Keys and conditions are CEL over the event.
// CreateFunction checks the ranges.
type FlowControl struct {
	// Concurrency limits executing steps: a sleeping or waiting run holds nothing. Up to two limits.
	Concurrency []Concurrency
	// RunConcurrency limits runs, from their start to their end. Up to two limits.
	RunConcurrency []Concurrency
	// Throttle limits run starts per period; more runs wait.
	Throttle *Throttle
	// RateLimit limits run starts per period; more runs are skipped.
	RateLimit *RateLimit
	// Debounce starts the run with the latest event once no event has come for its period.
	Debounce *Debounce
	// BatchEvents has several events in one run, as Input.Events. Not together with RateLimit, Idempotency, Debounce,
	// Singleton, Order, Priority or CancelOn.
	BatchEvents *BatchEvents
	Priority    *Priority
	// Singleton has one run at a time: a new one is skipped, or cancels the old one.
	Singleton *Singleton
	// Order has the events of a key run one after another. Not together with Singleton.
	Order *Order
	// CancelOn are up to five events that cancel a run.
	CancelOn []CancelOn
	// Idempotency has one run for each value of this, in 24 hours.
	Idempotency string
	// Timeouts cancel a run that has not started, or not finished, within this time.
	Timeouts *Timeouts
}

// Scope says which functions share a Concurrency limit.
type Scope string

const (
	// ScopeFn limits the function alone. It is the default.
	ScopeFn Scope = "fn"
	// ScopeEnv limits all functions of the environment that have the same value of the key.
	ScopeEnv Scope = "env"
	// ScopeAccount limits all functions of the installation that have the same value of the key.
	ScopeAccount Scope = "account"
)

// Concurrency is a limit of concurrent work.
type Concurrency struct {
	// Limit is at least 1.
	Limit int `json:"limit"`
	// Key has a limit for each value of it. ScopeEnv and ScopeAccount need one.
	Key   string `json:"key,omitempty"`
	Scope Scope  `json:"scope,omitempty"`
}

// Throttle of a function.
type Throttle struct {
	Limit int
	// Period is from 1 s to 7 days.
	Period time.Duration
	// Burst runs may start at once in addition to the first Limit.
	Burst int
	Key   string
}

// RateLimit of a function.
type RateLimit struct {
	Limit int
	// Period is from 1 s to 24 hours.
	Period time.Duration
	Key    string
}

// Debounce of a function.
type Debounce struct {
	// Period is from 1 s to 7 days.
	Period time.Duration
	Key    string
	// Timeout is from the first event to the run, at most.
	Timeout time.Duration
}

// BatchEvents of a function.
type BatchEvents struct {
	// MaxSize is at least 2; at most 100, unless the service allows more.
	MaxSize int
	// Timeout is from the first event of the batch: at least 1 s; at most 60 s, unless the service allows more.
	Timeout time.Duration
	// Key has a batch for each value of it.
	Key string
	// If: an event that does not meet this runs alone.
	If string
}

// Priority of a function's runs: Run gives the seconds by which a run starts earlier than others, -600 to 600.
type Priority struct {
	Run string `json:"run"`
}

// SingletonMode says what happens to a new run while another one is active.
type SingletonMode string

const (
	// SingletonSkip skips the new run.
	SingletonSkip SingletonMode = "skip"
	// SingletonCancel cancels the old run.
	SingletonCancel SingletonMode = "cancel"
)

// Singleton of a function.
type Singleton struct {
	Key  string        `json:"key,omitempty"`
	Mode SingletonMode `json:"mode"`
}

// StaleMode says what happens to an event that is older than the last one of its lane that began.
type StaleMode string

const (
	// StaleRun runs it all the same. It is the default.
	StaleRun StaleMode = "run"
	// StaleSkip skips it.
	StaleSkip StaleMode = "skip"
)

// FailureMode says what a lane does when a run fails for good.
type FailureMode string

const (
	// FailureSkip goes on with the next event. It is the default.
	FailureSkip FailureMode = "skip"
	// FailureBlock runs the event again, later and later, until that succeeds.
	FailureBlock FailureMode = "block"
	// FailurePark waits for a person.
	FailurePark FailureMode = "park"
)

// Order of a function's events.
type Order struct {
	// Key has a lane for each value of it.
	Key string
	// By is a number, a time or a version: events run in its order. Empty: in the order in which they come.
	By string
	// Window is how long the first event of a lane waits for those before it, up to an hour.
	Window time.Duration
	// OnStale is for events that are older than the last one that began.
	OnStale StaleMode
	// OnFailure is for runs that fail for good.
	OnFailure FailureMode
	// Name: functions of the app with the same name share their lanes.
	Name string
}

// CancelOn is an event that cancels a run.
type CancelOn struct {
	Event string
	// If is CEL: `event` triggered the run, `async` is the new event.
	If string
	// Timeout: only within this time of the run's start.
	Timeout time.Duration
}

// Timeouts of a function's runs.
type Timeouts struct {
	Start  time.Duration
	Finish time.Duration
}
