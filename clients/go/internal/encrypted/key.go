package encrypted

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/tidegate/tidegate/clients/go/internal/place"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

const (
	info       = "tidegate encryption v1"
	keyBytes   = 32
	idLength   = 16
	nonceBytes = 12
)

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

// Encrypt encrypts JSON under a nonce of its own; in version 1 without a place.
func (k Key) Encrypt(plain json.RawMessage, at place.Place) (json.RawMessage, error) {
	nonce := make([]byte, nonceBytes)
	// It never fails: the program crashes before it would return too few bytes.
	_, _ = rand.Read(nonce)
	return k.EncryptWith(nonce, plain, at)
}

// EncryptWith is Encrypt for tests: a nonce must never be used twice.
func (k Key) EncryptWith(nonce []byte, plain json.RawMessage, at place.Place) (json.RawMessage, error) {
	return replay.Encode(newValue(k.ID, k.aead.Seal(bytes.Clone(nonce), nonce, plain, associatedData(k.ID, at)), at))
}

// Decrypt is not ok when the value was changed, when it belongs to another place, or when another key has encrypted it.
func (k Key) Decrypt(value Value, at place.Place) (plain json.RawMessage, ok bool) {
	data, ok := value.bytes()
	if !ok || len(data) < nonceBytes {
		return nil, false
	}
	plain, err := k.aead.Open(nil, data[:nonceBytes], data[nonceBytes:], associatedData(k.ID, at))
	return plain, err == nil
}
