// Package encryption is middleware that encrypts data of an app that the service stores: results of steps, outputs of functions,
// and one field of the data of events. Only holders of the key can read them.
//
//	secret, err := encryption.New(encryption.Opts{Key: os.Getenv("ENCRYPTION_KEY")})
//	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Middleware: []tidegate.Middleware{secret}})
//
// Names of events and steps, the other fields of data, errors, signals and messages are not encrypted: the service
// matches events by them, and users read them.
// Opts.Strict binds each value to its event, step, function and run, and rejects values that are not encrypted: new apps set
// it, others upgrade in three steps (docs/security.md#encryption-by-apps).
//
// To replace a key, first add the new one to FallbackKeys everywhere, then make it the Key and the old one a fallback,
// and drop the old key once no run or event that was stored with it is left.
package encryption

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/encrypted"
	"github.com/tidegate/tidegate/clients/go/internal/place"
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
	// FallbackKeys are former keys, which only decrypt. Optional.
	FallbackKeys []string
	// EventField is the field of an event's data that is encrypted, if present. Default: "encrypted".
	EventField string
	// PlainEvents: events are not encrypted.
	PlainEvents bool
	// Version in which values are written; both are read. Version 2 binds a value to its event, step or function, and run.
	// Default: 1, which older clients can read; 2 with Strict.
	Version int
	// Strict rejects values of version 1, and values that are not encrypted but should be.
	Strict bool
}

// New makes the middleware. Put it first in the list, so that it encrypts values after the others have encoded them. It fails
// if a key is too short, or if Strict is combined with version 1.
func New(options Opts) (tidegate.Middleware, error) {
	version, err := options.version()
	if err != nil {
		return tidegate.Middleware{}, err
	}
	c := cipherer{keys: map[string]encrypted.Key{}, eventField: options.EventField, version: version, strict: options.Strict}
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

func (o Opts) version() (int, error) {
	switch {
	case o.Version != 0 && o.Version != 1 && o.Version != 2:
		return 0, fmt.Errorf("encryption: Version must be 1 or 2, got %d", o.Version)
	case o.Strict && o.Version == 1:
		return 0, errors.New("encryption: a Strict one refuses version 1, so it cannot write it: set Version: 2, or leave it out")
	case o.Strict:
		return 2, nil
	default:
		return max(o.Version, 1), nil
	}
}

// cipherer encrypts with one key, and decrypts with any key, by ID.
type cipherer struct {
	key  encrypted.Key
	keys map[string]encrypted.Key
	// eventField is empty if events are not encrypted.
	eventField string
	version    int
	strict     bool
}

func (c cipherer) encode(ctx context.Context, value json.RawMessage, at tidegate.At) (json.RawMessage, error) {
	return c.change(value, at, func(value json.RawMessage) (json.RawMessage, error) {
		if c.version == 1 {
			return c.key.Encrypt(value, nil)
		}
		places := place.Of(ctx)
		if len(places) == 0 {
			return nil, withoutPlace()
		}
		return c.key.Encrypt(value, places[0])
	})
}

func (c cipherer) decode(ctx context.Context, value json.RawMessage, at tidegate.At) (json.RawMessage, error) {
	return c.change(value, at, func(value json.RawMessage) (json.RawMessage, error) {
		return c.decrypt(value, place.Of(ctx))
	})
}

// change changes a value, of an event the one field, if it is there.
func (c cipherer) change(value json.RawMessage, at tidegate.At, change func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	if at != tidegate.AtEvent {
		return change(value)
	}
	var fields map[string]json.RawMessage
	// Data that is no object has no field.
	if c.eventField == "" || json.Unmarshal(value, &fields) != nil {
		return value, nil
	}
	field, there := fields[c.eventField]
	if !there {
		return value, nil
	}
	changed, err := change(field)
	if err != nil {
		return nil, err
	}
	fields[c.eventField] = changed
	return replay.Encode(fields)
}

// decrypt returns a value that is not encrypted unchanged, unless it must be encrypted.
func (c cipherer) decrypt(value json.RawMessage, places []place.Place) (json.RawMessage, error) {
	var at place.Place
	if len(places) > 0 {
		at = places[0]
	}
	found, ok := encrypted.Read(value)
	if !ok && c.strict && at != nil {
		return nil, notEncrypted(at)
	}
	if !ok {
		return value, nil
	}
	if c.strict && found.Version() == 1 {
		return nil, isVersion1(at)
	}
	k, known := c.keys[found.Key]
	if !known {
		return nil, unknownKey(found.Key)
	}
	return decryptAt(found, k, places)
}

// decryptAt is of a value that belongs to one of the places.
func decryptAt(value encrypted.Value, k encrypted.Key, places []place.Place) (json.RawMessage, error) {
	switch version := value.Version(); {
	case version == 1:
		// The value is bound to no place.
		places = []place.Place{nil}
	case version != 2:
		return nil, unknownVersion(version)
	case len(places) == 0:
		return nil, withoutPlace()
	}
	for _, at := range places {
		if plain, ok := k.Decrypt(value, at); ok {
			return plain, nil
		}
	}
	return nil, doesNotOpen(k.ID, places[0])
}
