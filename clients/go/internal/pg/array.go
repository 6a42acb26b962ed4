package pg

import (
	"fmt"
	"strconv"
	"strings"
)

// Numbers is an array of bigint as a parameter: each library sends a text as it is.
func Numbers(numbers []int64) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return "{" + strings.Join(texts, ",") + "}"
}

var quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\x00", "")

// TextArray is an array of text as a parameter.
func TextArray(texts []string) string {
	items := make([]string, len(texts))
	for i, text := range texts {
		items[i] = `"` + quoted.Replace(strings.ToValidUTF8(text, "\uFFFD")) + `"`
	}
	return "{" + strings.Join(items, ",") + "}"
}

// Texts is text[] in a row.
type Texts []string

// Scan reads what libraries of database/sql make of text[]: its text form.
func (t *Texts) Scan(value any) error {
	var text string
	switch value := value.(type) {
	case string:
		text = value
	case []byte:
		text = string(value)
	default:
		return fmt.Errorf("text[] is %T instead of a text", value)
	}
	*t = (*t)[:0]
	var item strings.Builder
	isQuoted, began := false, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			item.WriteByte(text[i])
		case c == '"':
			isQuoted, began = !isQuoted, true
		case !isQuoted && c == '{':
		case !isQuoted && (c == ',' || c == '}'):
			if began {
				*t = append(*t, item.String())
			}
			item.Reset()
			began = false
		default:
			item.WriteByte(c)
			began = true
		}
	}
	return nil
}
