// Package place says what an encoded value belongs to. Middleware that encrypts binds the value to it: moved elsewhere, it does
// not decrypt.
package place

import (
	"context"
	"encoding/json"
)

const invoked = "inngest/function.invoked"

// Place is one of
//
//	event, name
//	event, name, function, caller      of an invocation
//	step, hashed ID, function, run
//	output, function, run or caller
//
// where functions are named <app ID>-<function ID>, and a caller is the invoking <run>.<hashed ID of its step>.
type Place []string

type key struct{}

// With is a context for an Encode, which has one place, or for a Decode, which has all where the value may belong; none: no
// client encodes such values.
func With(ctx context.Context, places ...Place) context.Context {
	return context.WithValue(ctx, key{}, places)
}

// Of returns the place that With stored.
func Of(ctx context.Context) []Place {
	places, _ := ctx.Value(key{}).([]Place)
	return places
}

// Event is of an event that is sent: it has only its name, for there is no run yet.
func Event(name string) Place { return Place{"event", name} }

// Received is of an event that the service hands on. It names, in the data of an invocation, the function and the step that
// invoked it.
func Received(name string, data json.RawMessage) Place {
	if function, caller := invocation(name, data); caller != "" {
		return append(Event(name), function, caller)
	}
	return Event(name)
}

// Output of an invoked run belongs to the step that invoked it, any other to its run. Event triggered the run.
func Output(functionID, runID string, event json.RawMessage) Place {
	var trigger struct {
		Name string          `json:"name"`
		Data json.RawMessage `json:"data"`
	}
	// A value that is not an event invokes nothing.
	_ = json.Unmarshal(event, &trigger)
	if function, caller := invocation(trigger.Name, trigger.Data); caller != "" && function == functionID {
		return Place{"output", functionID, caller}
	}
	return Place{"output", functionID, runID}
}

func invocation(name string, data json.RawMessage) (function, caller string) {
	var fields struct {
		Told struct {
			Function json.RawMessage `json:"fn_id"`
			Caller   json.RawMessage `json:"correlation_id"`
		} `json:"_inngest"`
	}
	if name != invoked || json.Unmarshal(data, &fields) != nil {
		return "", ""
	}
	if json.Unmarshal(fields.Told.Function, &function) != nil || json.Unmarshal(fields.Told.Caller, &caller) != nil {
		return "", ""
	}
	return function, caller
}

// Run has the places of one run's values.
type Run struct {
	FunctionID, ID string
	// RerunOf are the runs whose results a re-run from a step has, the latest first.
	RerunOf []string
	// Event is the first of the run's events, unchanged.
	Event json.RawMessage
}

// Step is of a result that is new.
func (r Run) Step(hashedID string) Place { return Place{"step", hashedID, r.FunctionID, r.ID} }

// Output is where the function's return value belongs.
func (r Run) Output() Place { return Output(r.FunctionID, r.ID, r.Event) }

// Invocation is of the data that a step invokes a function with.
func (r Run) Invocation(functionID, hashedID string) Place {
	return append(Event(invoked), functionID, callerOf(r.ID, hashedID))
}

// Results are of a stored result.
func (r Run) Results(hashedID string) []Place {
	return r.each(func(run string) Place { return Place{"step", hashedID, r.FunctionID, run} })
}

// InvokedResults are of a stored result that another function has returned.
func (r Run) InvokedResults(functionID, hashedID string) []Place {
	return r.each(func(run string) Place { return Place{"output", functionID, callerOf(run, hashedID)} })
}

func (r Run) each(of func(run string) Place) []Place {
	places := []Place{of(r.ID)}
	for _, run := range r.RerunOf {
		places = append(places, of(run))
	}
	return places
}

// callerOf is as the service writes it: _inngest.correlation_id of an invocation.
func callerOf(runID, hashedID string) string { return runID + "." + hashedID }
