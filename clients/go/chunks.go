package tidegate

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// chunk is one request with events.
type chunk struct {
	// index of its first event, in the whole send.
	index int
	// body is a JSON array.
	body []byte
}

// splitByBytes splits a send into requests that are not larger than the service's limit: in order, and as few as
// that allows. It fails when an event cannot be written as a JSON object, or one alone is too large.
func splitByBytes(events []any, maxBytes int) ([]chunk, error) {
	var chunks []chunk
	body, first := []byte("["), 0
	for index, event := range events {
		text, err := encodeEvent(event, index)
		if err != nil {
			return nil, err
		}
		// Two more bytes for the brackets of a request, and one more for the comma after each event.
		if len(text)+2 > maxBytes {
			return nil, tooLarge(text, index, maxBytes)
		}
		if len(body)+len(text)+1 > maxBytes {
			chunks = append(chunks, closeChunk(body, first))
			body, first = []byte("["), index
		}
		body = append(append(body, text...), ',')
	}
	return append(chunks, closeChunk(body, first)), nil
}

// splitRest splits the rest of a send, beginning with a chunk that the service rejected as too large, by its reported limit.
// It is nil when smaller requests do not help.
func splitRest(events []any, refused chunk, limitBytes int) []chunk {
	if limitBytes <= 0 || limitBytes >= len(refused.body) {
		return nil
	}
	chunks, err := splitByBytes(events[refused.index:], limitBytes)
	if err != nil {
		return nil
	}
	for i := range chunks {
		chunks[i].index += refused.index
	}
	return chunks
}

// closeChunk puts the bracket where the last comma was.
func closeChunk(body []byte, first int) chunk {
	body[len(body)-1] = ']'
	return chunk{index: first, body: body}
}

func encodeEvent(event any, index int) ([]byte, error) {
	text, err := replay.Encode(event)
	if err != nil {
		return nil, fmt.Errorf("event %d cannot be written as JSON: %w", index, err)
	}
	if !bytes.HasPrefix(text, []byte("{")) {
		return nil, fmt.Errorf("event %d is not an event: %T is not a JSON object", index, event)
	}
	return text, nil
}

func tooLarge(text []byte, index, maxBytes int) error {
	var event struct {
		Name string `json:"name"`
	}
	// An event whose name is no text is too large all the same.
	_ = json.Unmarshal(text, &event)
	return &SendError{
		Message: fmt.Sprintf("Event %d (%q) has %d bytes as JSON, and a request to the service at most %d; nothing was sent",
			index, event.Name, len(text), maxBytes),
		Code: "body_too_large",
	}
}
