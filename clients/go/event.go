package tidegate

import (
	"encoding/json"
	"slices"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// Event is one with any data.
type Event = GenericEvent[map[string]any]

// GenericEvent is an event whose data has a type: a struct, or a map.
type GenericEvent[T any] struct {
	Name string
	// Data is a JSON object. A nil one is sent as {}.
	Data T
	// ID of an event to send: a second one with it, of any name, is ignored for 24 hours. Optional.
	// A received event has one, never nil.
	ID *string
	// Timestamp in milliseconds since 1970. Default: when the service receives it.
	Timestamp int64
	// User is data about who caused it. Optional.
	User map[string]any
	// V is the version of the data's form. Optional.
	V string
	// Raw is an event that has arrived, whole, as JSON. Of one to send it does not count.
	Raw json.RawMessage
}

// wireEvent is an event in requests.
type wireEvent[D any] struct {
	Name      string         `json:"name"`
	Data      D              `json:"data"`
	ID        *string        `json:"id,omitempty"`
	Timestamp int64          `json:"ts,omitempty"`
	User      map[string]any `json:"user,omitempty"`
	V         string         `json:"v,omitempty"`
}

// MarshalJSON writes it as the service takes it.
func (e GenericEvent[T]) MarshalJSON() ([]byte, error) {
	data, err := replay.Encode(e.Data)
	if err != nil {
		return nil, err
	}
	if string(data) == "null" {
		data = json.RawMessage("{}")
	}
	return replay.Encode(wireEvent[json.RawMessage]{e.Name, data, e.ID, e.Timestamp, e.User, e.V})
}

// UnmarshalJSON reads it as the service writes it.
func (e *GenericEvent[T]) UnmarshalJSON(text []byte) error {
	var wire wireEvent[T]
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	*e = GenericEvent[T]{wire.Name, wire.Data, wire.ID, wire.Timestamp, wire.User, wire.V, slices.Clone(text)}
	return nil
}

// Ptr points to a value, for optional fields: Retries: tidegate.Ptr(0).
func Ptr[T any](value T) *T { return &value }
