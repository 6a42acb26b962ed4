package replay

import (
	"bytes"
	"encoding/json"
)

// Memos are what finished steps left behind, as JSON by hashed step ID: `{data}` or `{error}`; a sleep's is null, a
// wait's the whole event or null.
type Memos map[string]json.RawMessage

// readMemo is how the step ended. An event has `data` too, and may have an `error`: its name tells it apart.
func readMemo(memo json.RawMessage, kind Kind) (json.RawMessage, *WireError) {
	// A value that is not an object has none of these fields.
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(memo, &fields)
	_, named := fields["name"]
	if failure := fields["error"]; !isNull(failure) && !named {
		var wire WireError
		_ = json.Unmarshal(failure, &wire)
		return nil, &wire
	}
	switch {
	case kind == KindSleep:
		return nil, nil
	case kind == KindWait:
		return orNull(memo), nil
	default:
		return orNull(fields["data"]), nil
	}
}

func isNull(value json.RawMessage) bool {
	trimmed := bytes.TrimSpace(value)
	return len(trimmed) == 0 || string(trimmed) == "null"
}

func orNull(value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return json.RawMessage("null")
	}
	return value
}
