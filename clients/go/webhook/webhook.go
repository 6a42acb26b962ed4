// Package webhook tells whether a webhook came from its provider: its transform hands on the raw body and the
// signature, as raw and sig in the event's data, and the function verifies them before anything else.
//
// Each function returns nil when the webhook is genuine, in constant time as to the signature. Otherwise it returns a
// *VerificationError, which fails the run for good.
package webhook

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

// Signed is the data of an event that a webhook's transform made.
type Signed struct {
	// Raw is the body as received.
	Raw string `json:"raw"`
	// Sig is the value of the provider's signature header.
	Sig string `json:"sig"`
}

// StandardSigned is Signed, of Standard Webhooks.
type StandardSigned struct {
	Signed
	// ID is the header webhook-id, or svix-id.
	ID string `json:"id"`
	// Timestamp is the header webhook-timestamp, or svix-timestamp.
	Timestamp string `json:"timestamp"`
}

// VerificationError means a webhook that did not come from its provider, or too long ago.
type VerificationError struct{ Flaw string }

func (e *VerificationError) Error() string { return "The webhook is not genuine: " + e.Flaw }

// Unwrap makes the error permanent: no retry would help.
func (e *VerificationError) Unwrap() error { return &tidegate.NonRetriableError{Err: errNotGenuine} }

var errNotGenuine = errors.New("the webhook is not genuine")

// HMACOpts say how a provider writes its signature.
type HMACOpts struct {
	// Encoding is hex or base64. Default: hex.
	Encoding string
	// Prefix before the signature in its header, such as sha256=.
	Prefix string
	// Algorithm is sha256, sha1 or sha512. Default: sha256.
	Algorithm string
}

// HMAC verifies an HMAC of the body.
func HMAC(webhook Signed, secret string, options HMACOpts) error {
	if err := checkText(webhook, secret); err != nil {
		return err
	}
	algorithm, err := algorithmOf(options.Algorithm)
	if err != nil {
		return err
	}
	signature, prefixed := strings.CutPrefix(webhook.Sig, options.Prefix)
	if !prefixed {
		return flaw("the signature does not begin with " + options.Prefix)
	}
	given, err := decode(signature, options.Encoding)
	if err != nil {
		return err
	}
	if !hmac.Equal(given, sum(algorithm, []byte(secret), webhook.Raw)) {
		return flaw("the signature is wrong")
	}
	return nil
}

// GitHub verifies the header x-hub-signature-256: sha256=<hex>.
func GitHub(webhook Signed, secret string) error {
	return HMAC(webhook, secret, HMACOpts{Prefix: "sha256="})
}

// AgeOpts say how old a signature may be.
type AgeOpts struct {
	// ReceivedAt is when the webhook arrived. Default: now. A function that may start late, or verify again in a retry,
	// gives its event's time here, unless the transform has set that.
	ReceivedAt time.Time
	// Tolerance between signing and receipt, in either direction. Default: five minutes.
	Tolerance time.Duration
}

// Stripe verifies the header stripe-signature: t=<seconds>,v1=<hex>, perhaps with several v1.
func Stripe(webhook Signed, secret string, options AgeOpts) error {
	if err := checkText(webhook, secret); err != nil {
		return err
	}
	at, given := stripeFields(webhook.Sig)
	expected := sum(sha256.New, []byte(secret), at+"."+webhook.Raw)
	if !anyEqual(given, expected) {
		return flaw("the signature is wrong")
	}
	return checkAge(at, options)
}

// stripeFields are the first t and every v1.
func stripeFields(header string) (at string, signatures [][]byte) {
	timed := false
	for _, field := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch {
		case name == "t" && !timed:
			at, timed = value, true
		case name == "v1":
			// What is not hex is empty, and equals no signature.
			signature, _ := hex.DecodeString(value)
			signatures = append(signatures, signature)
		}
	}
	return at, signatures
}

// Standard verifies Standard Webhooks (standardwebhooks.com), as Svix and others send: v1,<base64>, perhaps several.
// The secret is whsec_<base64>.
func Standard(webhook StandardSigned, secret string, options AgeOpts) error {
	if err := checkText(webhook.Signed, secret); err != nil {
		return err
	}
	if webhook.ID == "" {
		return flaw("there is no id")
	}
	if webhook.Timestamp == "" {
		return flaw("there is no timestamp")
	}
	key := decodeBase64(strings.TrimPrefix(secret, "whsec_"))
	if len(key) == 0 {
		return flaw("the secret is not whsec_<base64>")
	}
	var given [][]byte
	for _, field := range strings.Split(webhook.Sig, " ") {
		if signature, ok := strings.CutPrefix(field, "v1,"); ok {
			given = append(given, decodeBase64(signature))
		}
	}
	expected := sum(sha256.New, key, webhook.ID+"."+webhook.Timestamp+"."+webhook.Raw)
	if !anyEqual(given, expected) {
		return flaw("the signature is wrong")
	}
	return checkAge(webhook.Timestamp, options)
}

// checkText: an empty secret would verify what anybody has signed with it.
func checkText(webhook Signed, secret string) error {
	if webhook.Sig == "" {
		return flaw("there is no sig")
	}
	if secret == "" {
		return flaw("there is no secret")
	}
	return nil
}

var digits = regexp.MustCompile(`^\d+$`)

func checkAge(atSeconds string, options AgeOpts) error {
	if !digits.MatchString(atSeconds) {
		return flaw("its time cannot be read")
	}
	received, tolerance := options.ReceivedAt, options.Tolerance
	if received.IsZero() {
		received = time.Now()
	}
	if tolerance == 0 {
		tolerance = 5 * time.Minute
	}
	// A float64 holds any number of digits; one too large for an int64 is far from any time of receipt.
	at, _ := strconv.ParseFloat(atSeconds, 64)
	age := float64(received.UnixMilli())/1_000 - at
	if math.Abs(age) <= tolerance.Seconds() {
		return nil
	}
	direction := "after"
	if age > 0 {
		direction = "before"
	}
	return flaw(fmt.Sprintf("it was signed %.0f seconds %s it arrived", math.Abs(age), direction))
}

func algorithmOf(name string) (func() hash.Hash, error) {
	switch name {
	case "", "sha256":
		return sha256.New, nil
	case "sha1":
		return sha1.New, nil
	case "sha512":
		return sha512.New, nil
	default:
		return nil, fmt.Errorf("webhook: the algorithm is sha256, sha1 or sha512; got %q", name)
	}
}

func sum(algorithm func() hash.Hash, key []byte, text string) []byte {
	mac := hmac.New(algorithm, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func decode(signature, encoding string) ([]byte, error) {
	switch encoding {
	case "", "hex":
		// What is not hex is empty, and equals no signature.
		given, _ := hex.DecodeString(signature)
		return given, nil
	case "base64":
		return decodeBase64(signature), nil
	default:
		return nil, fmt.Errorf("webhook: the encoding is hex or base64; got %q", encoding)
	}
}

// decodeBase64 takes it with and without padding, of both alphabets; anything else is empty.
func decodeBase64(text string) []byte {
	standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	raw, err := base64.RawStdEncoding.DecodeString(standard)
	if err != nil {
		return nil
	}
	return raw
}

func anyEqual(given [][]byte, expected []byte) bool {
	genuine := false
	for _, signature := range given {
		genuine = hmac.Equal(signature, expected) || genuine
	}
	return genuine
}

func flaw(what string) error { return &VerificationError{Flaw: what} }
