package tidegate

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// decodeEvents are the events of a call, as the handler is to have them.
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

// decodeEvent leaves null alone: a wait that has timed out.
func (c chain) decodeEvent(ctx context.Context, text json.RawMessage) (json.RawMessage, error) {
	var event map[string]json.RawMessage
	if isAbsent(text) || json.Unmarshal(text, &event) != nil || isAbsent(event["data"]) {
		return text, nil
	}
	data, err := c.decode(ctx, event["data"], AtEvent)
	if err == nil && textOf(event["name"]) == failedEvent {
		data, err = c.decodeInner(ctx, data)
	}
	if err != nil {
		return nil, err
	}
	event["data"] = data
	return replay.Encode(event)
}

// decodeInner is of what the service sends when a run has failed: the data has the event that had triggered the run.
func (c chain) decodeInner(ctx context.Context, data json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || isAbsent(fields["event"]) {
		return data, nil
	}
	event, err := c.decodeEvent(ctx, fields["event"])
	if err != nil {
		return nil, err
	}
	fields["event"] = event
	return replay.Encode(fields)
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

// whole is the event as JSON: Raw, in which only those fields differ that were changed since.
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
