// Package encryption is middleware that encrypts what the service stores of an app: results of steps, outputs of functions,
// and one field of the data of events. Only holders of the key can read them.
//
//	secret, err := encryption.New(encryption.Opts{Key: os.Getenv("ENCRYPTION_KEY")})
//	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Middleware: []tidegate.Middleware{secret}})
//
// Names of events and steps, the other fields of data, errors, signals and messages are not encrypted: the service
// matches events by them, and people read them.
//
// To replace a key, first add the new one to FallbackKeys everywhere, then make it the Key and the old one a fallback,
// and drop that once no run and no event is left that was stored with it.
package encryption

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/encrypted"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

const (
	defaultEventField = "encrypted"
	minKeyLength      = 32
)

// Opts of the middleware.
type Opts struct {
	// Key is a secret text of at least 32 characters, such as the output of openssl rand -hex 32. It encrypts.
	Key string
	// FallbackKeys decrypt what was encrypted with them. Optional.
	FallbackKeys []string
	// EventField is the field of an event's data that is encrypted, if it is there. Default: "encrypted".
	EventField string
	// PlainEvents leaves events alone.
	PlainEvents bool
}

// New makes the middleware. Put it first in the list, so that it encrypts what the others have made of values. It fails
// when a key is too short.
func New(options Opts) (tidegate.Middleware, error) {
	c := cipherer{keys: map[string]encrypted.Key{}, eventField: options.EventField}
	if c.eventField == "" {
		c.eventField = defaultEventField
	}
	if options.PlainEvents {
		c.eventField = ""
	}
	for i, text := range append([]string{options.Key}, options.FallbackKeys...) {
		name := "Key"
		if i > 0 {
			name = fmt.Sprintf("FallbackKeys[%d]", i-1)
		}
		if utf8.RuneCountInString(text) < minKeyLength {
			return tidegate.Middleware{}, fmt.Errorf("encryption: %s needs at least %d characters: take the output of openssl rand -hex 32", name, minKeyLength)
		}
		k, err := encrypted.NewKey(text)
		if err != nil {
			return tidegate.Middleware{}, fmt.Errorf("encryption: %s: %w", name, err)
		}
		if i == 0 {
			c.key = k
		}
		c.keys[k.ID] = k
	}
	return tidegate.Middleware{Name: "encryption", Encode: c.encode, Decode: c.decode}, nil
}

// cipherer encrypts with one key, and decrypts with any of them, by ID.
type cipherer struct {
	key  encrypted.Key
	keys map[string]encrypted.Key
	// eventField is empty when events stay as they are.
	eventField string
}

func (c cipherer) encode(_ context.Context, value json.RawMessage, at tidegate.At) (json.RawMessage, error) {
	if at == tidegate.AtEvent {
		return c.inEvent(value, c.key.Encrypt)
	}
	return c.key.Encrypt(value)
}

func (c cipherer) decode(_ context.Context, value json.RawMessage, at tidegate.At) (json.RawMessage, error) {
	if at == tidegate.AtEvent {
		return c.inEvent(value, c.decrypt)
	}
	return c.decrypt(value)
}

// inEvent changes the one field of an event's data, if it is there.
func (c cipherer) inEvent(data json.RawMessage, change func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	// Data that is no object has no field.
	if c.eventField == "" || json.Unmarshal(data, &fields) != nil {
		return data, nil
	}
	value, there := fields[c.eventField]
	if !there {
		return data, nil
	}
	changed, err := change(value)
	if err != nil {
		return nil, err
	}
	fields[c.eventField] = changed
	return replay.Encode(fields)
}

// decrypt leaves a value alone that is not encrypted.
func (c cipherer) decrypt(value json.RawMessage) (json.RawMessage, error) {
	found, ok := encrypted.Read(value)
	if !ok {
		return value, nil
	}
	k, known := c.keys[found.Key]
	if !known {
		return nil, refused(found.Key, "is none of this app's keys")
	}
	plain, err := k.Decrypt(found)
	if err != nil {
		return nil, refused(found.Key, "does not decrypt it: it was changed, or made with another key")
	}
	return plain, nil
}

func refused(keyID, reason string) error {
	return tidegate.NonRetriable(fmt.Errorf("a value is encrypted with the key of ID %q, which %s: put the key that encrypted it into FallbackKeys", keyID, reason))
}
