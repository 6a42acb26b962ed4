package conformance

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/encryption"
	"github.com/tidegate/tidegate/clients/go/internal/encrypted"
	"github.com/tidegate/tidegate/clients/go/internal/place"
)

// encryptionOptions are of the middleware.
type encryptionOptions struct {
	Key          string   `json:"key"`
	FallbackKeys []string `json:"fallback_keys"`
	// EventField is null when events are left alone.
	EventField json.RawMessage `json:"event_field"`
	Version    int             `json:"version"`
	Strict     bool            `json:"strict"`
}

// encryptionCase has the fields of all kinds.
type encryptionCase struct {
	titled
	Encryption encryptionOptions `json:"encryption"`
	KeyID      string            `json:"key_id"`
	JSON       *string           `json:"json"`
	Nonce      string            `json:"nonce"`
	Encrypted  json.RawMessage   `json:"encrypted"`
	Places     []place.Place     `json:"places"`
	At         tidegate.At       `json:"at"`
	Value      json.RawMessage   `json:"value"`
	Encoded    json.RawMessage   `json:"encoded"`
	Decoded    json.RawMessage   `json:"decoded"`
	Flaw       []string          `json:"flaw"`
	Program    *program          `json:"program"`
	Call       replayCall        `json:"call"`
	Functions  []functionOptions `json:"functions"`
	Request    appRequest        `json:"request"`
	Events     *events           `json:"events"`
	Replies    []reply           `json:"replies"`
	Answer     appAnswer         `json:"answer"`
	Requests   *[]request        `json:"requests"`
	IDs        *[]string         `json:"ids"`
	// Meaning is for the service to say.
	Meaning string `json:"meaning"`
}

func encryptions(t *testing.T, c encryptionCase) {
	middleware, err := c.Encryption.create(t)
	if c.Value == nil && c.Flaw != nil {
		checkFlaw(t, c.Flaw, messageOf(err))
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	client := devClient()
	client.middleware = []tidegate.Middleware{middleware}
	opened := func(text []byte) []byte { return c.Encryption.opened(t, text, c.Places) }
	switch {
	case c.KeyID != "":
		if got := c.Encryption.key(t).ID; got != c.KeyID {
			t.Errorf("expected the ID %s, got %s", c.KeyID, got)
		}
	case c.JSON != nil:
		c.checkVector(t, middleware)
	case c.Value != nil:
		c.checkValue(t, middleware, opened)
	case c.Program != nil:
		replay := replayCase{Program: *c.Program, Call: c.Call, Answer: c.Answer, Replies: c.Replies, Requests: c.Requests}
		replay.replay(t, client, opened)
	case c.Functions != nil:
		runAppCase(t, appCase{Client: client, Functions: c.Functions, Request: c.Request, Answer: c.Answer, opened: opened})
	default:
		sends(t, sendCase{Client: client, Events: *c.Events, Replies: c.Replies, Requests: *c.Requests, IDs: c.IDs, opened: opened})
	}
}

func (o encryptionOptions) create(t *testing.T) (tidegate.Middleware, error) {
	t.Helper()
	options := encryption.Opts{Key: o.Key, FallbackKeys: o.FallbackKeys, PlainEvents: string(o.EventField) == "null", Version: o.Version, Strict: o.Strict}
	if o.EventField != nil && !options.PlainEvents {
		read(t, o.EventField, &options.EventField)
	}
	return encryption.New(options)
}

func (o encryptionOptions) key(t *testing.T) encrypted.Key {
	t.Helper()
	key, err := encrypted.NewKey(o.Key)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// checkVector encrypts a text under a given nonce, and decrypts what is expected.
func (c encryptionCase) checkVector(t *testing.T, middleware tidegate.Middleware) {
	t.Helper()
	nonce := must(base64.StdEncoding.DecodeString(c.Nonce))
	var at place.Place
	if len(c.Places) > 0 {
		at = c.Places[0]
	}
	got, err := c.Encryption.key(t).EncryptWith(nonce, json.RawMessage(*c.JSON), at)
	if err != nil {
		t.Fatal(err)
	}
	newPlaces().checkJSON(t, "encrypted", c.Encrypted, got)
	decrypted, err := middleware.Decode(c.context(t), c.Encrypted, tidegate.AtStep)
	if err != nil || string(decrypted) != *c.JSON {
		t.Errorf("expected %s, got %s, %v", *c.JSON, decrypted, err)
	}
}

func (c encryptionCase) context(t *testing.T) context.Context {
	return place.With(t.Context(), c.Places...)
}

// checkValue encodes a value, or decodes it.
func (c encryptionCase) checkValue(t *testing.T, middleware tidegate.Middleware, opened func([]byte) []byte) {
	t.Helper()
	if c.Encoded != nil {
		got, err := middleware.Encode(c.context(t), c.Value, c.At)
		if err != nil {
			t.Fatal(err)
		}
		newPlaces().checkJSON(t, "encoded", c.Encoded, opened(got))
		return
	}
	value := bytes.ReplaceAll(c.Value, []byte("{{huge}}"), bytes.Repeat([]byte("A"), 1_000_000))
	got, err := middleware.Decode(c.context(t), value, c.At)
	checkFlaw(t, c.Flaw, messageOf(err))
	if length := len(messageOf(err)); length > 1_000 {
		t.Errorf("the message has %d bytes", length)
	}
	var nonRetriable *tidegate.NonRetriableError
	if err != nil && !errors.As(err, &nonRetriable) {
		t.Errorf("it would be retried: %v", err)
	}
	if c.Flaw == nil {
		newPlaces().checkJSON(t, "decoded", c.Decoded, got)
	}
}

// opened is the JSON with each encrypted value, at any depth, as cases expect it.
func (o encryptionOptions) opened(t *testing.T, text []byte, places []place.Place) []byte {
	t.Helper()
	keys := map[string]encrypted.Key{}
	for _, text := range append([]string{o.Key}, o.FallbackKeys...) {
		key := must(encrypted.NewKey(text))
		keys[key.ID] = key
	}
	return openAll(text, func(found encrypted.Value) any {
		if found.Version() == 1 {
			places = []place.Place{nil}
		}
		for _, at := range places {
			plain, ok := keys[found.Key].Decrypt(found, at)
			if !ok {
				continue
			}
			fields := map[string]any{"{{encrypted}}": plain, "key": found.Key}
			if at != nil {
				fields["place"] = at
			}
			return fields
		}
		t.Fatalf("none of the places fits the value %v", found)
		return nil
	})
}

func openAll(text json.RawMessage, open func(encrypted.Value) any) json.RawMessage {
	if found, ok := encrypted.Read(text); ok {
		return must(json.Marshal(open(found)))
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && list != nil {
		for i := range list {
			list[i] = openAll(list[i], open)
		}
		return must(json.Marshal(list))
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) == nil && fields != nil {
		for name := range fields {
			fields[name] = openAll(fields[name], open)
		}
		return must(json.Marshal(fields))
	}
	return text
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
