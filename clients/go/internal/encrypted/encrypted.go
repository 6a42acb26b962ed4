// Package encrypted is the wire format of encrypted values: AES-256-GCM under a key that is derived from a text.
package encrypted

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

const (
	// scheme marks an encrypted value.
	scheme     = "tidegate/aes-256-gcm"
	info       = "tidegate encryption v1"
	keyBytes   = 32
	idLength   = 16
	nonceBytes = 12
)

// Value is one as it travels: exactly these fields.
type Value struct {
	Scheme string `json:"$encrypted"`
	// Key is the ID of the key.
	Key string `json:"key"`
	// Data is base64 of nonce, ciphertext and tag.
	Data string `json:"data"`
}

// Read is not ok of what is no encrypted value.
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

// Key encrypts and decrypts.
type Key struct {
	// ID names the key, and tells nothing of it.
	ID   string
	aead cipher.AEAD
}

// NewKey derives a key from a text.
func NewKey(text string) (Key, error) {
	derived, err := hkdf.Key(sha256.New, []byte(text), nil, info, keyBytes)
	if err != nil {
		return Key{}, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return Key{}, err
	}
	aead, err := cipher.NewGCM(block)
	sum := sha256.Sum256(derived)
	return Key{hex.EncodeToString(sum[:])[:idLength], aead}, err
}

// Encrypt encrypts JSON under a nonce of its own.
func (k Key) Encrypt(plain json.RawMessage) (json.RawMessage, error) {
	nonce := make([]byte, nonceBytes)
	// It never fails: the program crashes before it would return too few bytes.
	_, _ = rand.Read(nonce)
	return k.EncryptWith(nonce, plain)
}

// EncryptWith is Encrypt for tests: a nonce must never be used twice.
func (k Key) EncryptWith(nonce []byte, plain json.RawMessage) (json.RawMessage, error) {
	data := k.aead.Seal(bytes.Clone(nonce), nonce, plain, k.additionalData())
	return replay.Encode(Value{scheme, k.ID, base64.StdEncoding.EncodeToString(data)})
}

// Decrypt fails when the value was changed, or another key has encrypted it.
func (k Key) Decrypt(value Value) (json.RawMessage, error) {
	data, err := base64.StdEncoding.DecodeString(value.Data)
	if err != nil {
		return nil, err
	}
	if len(data) < nonceBytes {
		return nil, errors.New("the data is too short")
	}
	return k.aead.Open(nil, data[:nonceBytes], data[nonceBytes:], k.additionalData())
}

// additionalData binds a value to the ID of its key.
func (k Key) additionalData() []byte { return []byte(scheme + " " + k.ID) }
