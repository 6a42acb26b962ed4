// Package signature has the two proofs of the protocol, both made from the signing key `signkey-<word>-<hex>`.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

const maxAge = 5 * time.Minute

var (
	keyForm = regexp.MustCompile(`(?i)^(signkey-\w+-)((?:[0-9a-f]{2})+)$`)
	digits  = regexp.MustCompile(`^\d+$`)
)

// IsKey says whether the text has the form of a signing key.
func IsKey(key string) bool { return keyForm.MatchString(key) }

// Bearer is the token with which the app authenticates when it registers.
func Bearer(key string) string {
	prefix, secret := partsOf(key)
	raw, err := hex.DecodeString(secret)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return prefix + hex.EncodeToString(sum[:])
}

// Sign is the signature header's value for a body sent at this time.
func Sign(body []byte, key string, at time.Time) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	return fmt.Sprintf("t=%s&s=%x", seconds, digest(body, key, seconds))
}

// Flaw says why a signature header does not prove that the service sent this body; it is empty when it does.
// Any of the keys will do.
func Flaw(header string, body []byte, keys []string, now time.Time) string {
	if header == "" {
		return "the request is not signed"
	}
	fields, err := url.ParseQuery(header)
	at := fields.Get("t")
	if err != nil || !digits.MatchString(at) {
		return "the signature cannot be read"
	}
	// Text that is not hexadecimal stays empty, and equals no signature.
	given, _ := hex.DecodeString(fields.Get("s"))
	genuine := false
	for _, key := range keys {
		genuine = hmac.Equal(given, digest(body, key, at)) || genuine
	}
	if !genuine {
		return "the signature is wrong"
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err == nil && now.Sub(time.Unix(seconds, 0)) > maxAge {
		return "the signature is older than 5 minutes"
	}
	return ""
}

// Target is the function and step in a call's URL. The signature covers only these, because proxies change the rest.
type Target struct{ FunctionID, StepID string }

// TargetOf reads path and query.
func TargetOf(address string) Target {
	var query url.Values
	if parsed, err := url.Parse(address); err == nil {
		query = parsed.Query()
	}
	step := query.Get("stepId")
	if !query.Has("stepId") {
		step = "step"
	}
	return Target{query.Get("fnId"), step}
}

// SignURL is the signature-url header's value of a call signed at this time.
func SignURL(target Target, body []byte, key string, at time.Time) string {
	return hex.EncodeToString(urlDigest(target, body, key, strconv.FormatInt(at.Unix(), 10)))
}

// URLFlaw says why the signature-url header does not prove that a call, whose signature is right, was made for this function
// and step; it is empty when it does.
func URLFlaw(urlHeader, header string, target Target, body []byte, keys []string) string {
	if urlHeader == "" {
		return "the URL is not signed"
	}
	fields, _ := url.ParseQuery(header)
	given, _ := hex.DecodeString(urlHeader)
	genuine := false
	for _, key := range keys {
		genuine = hmac.Equal(given, urlDigest(target, body, key, fields.Get("t"))) || genuine
	}
	if !genuine {
		return "the URL's signature is wrong: the call was made for another function or step"
	}
	return ""
}

func urlDigest(target Target, body []byte, key, at string) []byte {
	_, secret := partsOf(key)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("url\n" + target.FunctionID + "\n" + target.StepID + "\n"))
	mac.Write(body)
	mac.Write([]byte(at))
	return mac.Sum(nil)
}

func digest(body []byte, key, at string) []byte {
	_, secret := partsOf(key)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	mac.Write([]byte(at))
	return mac.Sum(nil)
}

func partsOf(key string) (prefix, secret string) {
	if parts := keyForm.FindStringSubmatch(key); parts != nil {
		return parts[1], parts[2]
	}
	return "", ""
}
