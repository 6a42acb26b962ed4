// Package canonical writes JSON as RFC 8785 has it: the bytes that the service signed, when only their meaning is left.
package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Marshal writes any value that encoding/json can write. Numbers are doubles, as RFC 8785 has them.
func Marshal(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return nil, err
	}
	return appendValue(nil, plain)
}

func appendValue(out []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	case string:
		return appendString(out, v), nil
	case json.Number:
		return appendNumber(out, v)
	case []any:
		return appendArray(out, v)
	case map[string]any:
		return appendObject(out, v)
	default:
		return nil, fmt.Errorf("canonical: %T is not of JSON", value)
	}
}

func appendArray(out []byte, values []any) ([]byte, error) {
	out = append(out, '[')
	for i, value := range values {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendValue(out, value); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// appendObject sorts the keys by their UTF-16 code units, which is not the order of their bytes.
func appendObject(out []byte, fields map[string]any) ([]byte, error) {
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	out = append(out, '{')
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, key), ':')
		var err error
		if out, err = appendValue(out, fields[key]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// appendNumber writes the double nearest to the number. What encoding/json makes of a float64 is what ECMAScript
// makes of it, but for negative zero.
func appendNumber(out []byte, number json.Number) ([]byte, error) {
	double, err := number.Float64()
	if err != nil {
		return nil, fmt.Errorf("canonical: %s is out of the range of numbers", number)
	}
	if double == 0 {
		return append(out, '0'), nil
	}
	text, err := json.Marshal(double)
	return append(out, text...), err
}

const hexDigits = "0123456789abcdef"

// appendString escapes only what must be (RFC 8785, 3.2.2.2).
func appendString(out []byte, text string) []byte {
	out = append(out, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\b':
			out = append(out, `\b`...)
		case r == '\f':
			out = append(out, `\f`...)
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\r':
			out = append(out, `\r`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r < ' ':
			out = append(out, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&0xf])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}
