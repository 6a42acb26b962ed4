// Package encrypted is the wire format of encrypted values: AES-256-GCM under a key that is derived from a text.
package encrypted

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/clients/go/internal/place"
)

// scheme marks an encrypted value.
const scheme = "tidegate/aes-256-gcm"

// Value is one as it travels: exactly these fields. Readers of version 1 alone cannot mistake version 2 for a plain value: they
// refuse its data.
type Value struct {
	Scheme string `json:"$encrypted"`
	// Key is the ID of the key.
	Key string `json:"key"`
	// Data is base64 of nonce, ciphertext and tag; in version 2 after "2.".
	Data string `json:"data"`
}

// Read returns false for a value that is not encrypted.
func Read(text json.RawMessage) (value Value, ok bool) {
	var fields map[string]*string
	if json.Unmarshal(text, &fields) != nil || len(fields) != 3 {
		return Value{}, false
	}
	mark, key, data := fields["$encrypted"], fields["key"], fields["data"]
	if mark == nil || key == nil || data == nil || *mark != scheme {
		return Value{}, false
	}
	return Value{*mark, *key, *data}, true
}

var version = regexp.MustCompile(`^([1-9][0-9]{0,3})\.`)

// Version is 1 where the data does not say another.
func (v Value) Version() int {
	if found := version.FindStringSubmatch(v.Data); found != nil {
		number, _ := strconv.Atoi(found[1])
		return number
	}
	return 1
}

// bytes is not ok of data that is not base64 as newValue writes it.
func (v Value) bytes() (sealed []byte, ok bool) {
	text := v.Data
	if v.Version() != 1 {
		_, text, _ = strings.Cut(v.Data, ".")
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	return sealed, err == nil && (v.Version() == 1 || base64.StdEncoding.EncodeToString(sealed) == text)
}

// newValue is in version 1 without a place.
func newValue(keyID string, sealed []byte, at place.Place) Value {
	data := base64.StdEncoding.EncodeToString(sealed)
	if at != nil {
		data = "2." + data
	}
	return Value{scheme, keyID, data}
}

// associatedData is the place to which a value is bound: in version 2 as netstrings (<bytes>:<text>,), so that no two places
// have the same text.
func associatedData(keyID string, at place.Place) []byte {
	if at == nil {
		return []byte(scheme + " " + keyID)
	}
	var all strings.Builder
	for _, text := range append([]string{scheme, "2", keyID}, at...) {
		all.WriteString(strconv.Itoa(len(text)) + ":" + text + ",")
	}
	return []byte(all.String())
}
