package tidegate

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/tidegate/tidegate/clients/go/internal/place"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// decodeEvents returns the events of a call, decoded for the handler.
func (c chain) decodeEvents(ctx context.Context, given call) (call, error) {
	if len(c) == 0 {
		return given, nil
	}
	if len(given.events) == 0 {
		given.events = []json.RawMessage{given.event}
	}
	events := make([]json.RawMessage, len(given.events))
	for i, text := range given.events {
		event, err := c.decodeEvent(ctx, text)
		if err != nil {
			return given, err
		}
		events[i] = event
	}
	given.event, given.events = events[0], events
	return given, nil
}

// decodeEvent leaves null alone.
func (c chain) decodeEvent(ctx context.Context, text json.RawMessage) (json.RawMessage, error) {
	event := fieldsOf(text)
	if isAbsent(event["data"]) {
		return text, nil
	}
	name := textOf(event["name"])
	data, err := c.decode(ctx, event["data"], AtEvent, place.Received(name, event["data"]))
	if err == nil && tellsEndOrPause(name) {
		data, err = c.decodeEnd(ctx, data)
	}
	if err != nil {
		return nil, err
	}
	event["data"] = data
	return replay.Encode(event)
}

// decodeAwaited has the event that a step waits for, whatever name it came with; null: the wait has timed out.
func (c chain) decodeAwaited(ctx context.Context, text json.RawMessage, name string) (json.RawMessage, error) {
	event := fieldsOf(text)
	if event == nil {
		return text, nil
	}
	named, err := replay.Encode(name)
	if err != nil {
		return nil, err
	}
	event["name"] = named
	if text, err = replay.Encode(event); err != nil {
		return nil, err
	}
	return c.decodeEvent(ctx, text)
}

// decodeEnd decodes the event that reports the end of a run: its data has the run's events and output, as stored.
func (c chain) decodeEnd(ctx context.Context, data json.RawMessage) (json.RawMessage, error) {
	fields := fieldsOf(data)
	if fields == nil {
		return data, nil
	}
	trigger := fields["event"]
	if !isAbsent(trigger) {
		event, err := c.decodeEvent(ctx, trigger)
		if err != nil {
			return nil, err
		}
		fields["event"] = event
	}
	var events []json.RawMessage
	if json.Unmarshal(fields["events"], &events) == nil && events != nil {
		for i := range events {
			event, err := c.decodeEvent(ctx, events[i])
			if err != nil {
				return nil, err
			}
			events[i] = event
		}
		fields["events"], _ = replay.Encode(events) // of JSON only
	}
	// A failed run has its error here, which is not encoded.
	if !isAbsent(fields["result"]) && isAbsent(fields["error"]) {
		where := place.Output(textOf(fields["function_id"]), textOf(fields["run_id"]), trigger)
		result, err := c.decode(ctx, fields["result"], AtOutput, where)
		if err != nil {
			return nil, err
		}
		fields["result"] = result
	}
	return replay.Encode(fields)
}

// fieldsOf returns nil for a value that is not an object.
func fieldsOf(text json.RawMessage) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return nil
	}
	return fields
}

// tellsEndOrPause is of the service's own events about runs that have ended, or are paused.
func tellsEndOrPause(name string) bool {
	switch name {
	case failedEvent, "inngest/function.finished", "inngest/function.cancelled", "tidegate/run.paused":
		return true
	}
	return false
}

// rawEvents are a call's events for its middleware to change.
func rawEvents(texts []json.RawMessage) ([]RawEvent, error) {
	events := make([]RawEvent, len(texts))
	for i, text := range texts {
		if err := readEvent(text, &events[i]); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// whole is the event as JSON: Raw, with the fields that were changed since.
func (e GenericEvent[T]) whole() (json.RawMessage, error) {
	now, err := replay.Encode(e)
	if err != nil || e.Raw == nil {
		return now, err
	}
	var was GenericEvent[T]
	var fields, changed map[string]json.RawMessage
	if err := json.Unmarshal(e.Raw, &was); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(e.Raw, &fields); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(now, &changed); err != nil {
		return nil, err
	}
	for name, same := range map[string]bool{
		"name": e.Name == was.Name,
		"data": reflect.DeepEqual(e.Data, was.Data),
		"id":   idOf(e.ID) == idOf(was.ID),
		"ts":   e.Timestamp == was.Timestamp,
		"user": reflect.DeepEqual(e.User, was.User),
		"v":    e.V == was.V,
	} {
		if value, there := changed[name]; !same && there {
			fields[name] = value
		} else if !same {
			delete(fields, name)
		}
	}
	return replay.Encode(fields)
}

func (e GenericEvent[T]) dataOrEmpty() json.RawMessage {
	data, err := replay.Encode(e.Data)
	if err != nil || isAbsent(data) {
		return json.RawMessage("{}")
	}
	return data
}

func idOf(id *string) string {
	if id == nil {
		return ""
	}
	return *id
}
