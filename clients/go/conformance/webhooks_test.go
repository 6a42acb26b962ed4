package conformance

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/tidegate/tidegate/clients/go/webhook"
)

type webhookCase struct {
	titled
	Provider string          `json:"provider"`
	Data     json.RawMessage `json:"data"`
	Secret   string          `json:"secret"`
	Options  struct {
		Encoding         string  `json:"encoding"`
		Prefix           string  `json:"prefix"`
		Algorithm        string  `json:"algorithm"`
		ToleranceSeconds float64 `json:"tolerance_seconds"`
	} `json:"options"`
	Now  *float64 `json:"now"`
	Flaw []string `json:"flaw"`
}

func webhooks(t *testing.T, c webhookCase) {
	var data webhook.StandardSigned
	read(t, c.Data, &data)
	age := webhook.AgeOpts{Tolerance: time.Duration(c.Options.ToleranceSeconds * float64(time.Second))}
	if c.Now != nil {
		age.ReceivedAt = time.UnixMilli(int64(*c.Now * 1_000))
	}
	var err error
	switch c.Provider {
	case "github":
		err = webhook.GitHub(data.Signed, c.Secret)
	case "stripe":
		err = webhook.Stripe(data.Signed, c.Secret, age)
	case "standard":
		err = webhook.Standard(data, c.Secret, age)
	case "hmac":
		options := webhook.HMACOpts{Encoding: c.Options.Encoding, Prefix: c.Options.Prefix, Algorithm: c.Options.Algorithm}
		err = webhook.HMAC(data.Signed, c.Secret, options)
	default:
		t.Fatalf("the provider %q is not known here", c.Provider)
	}
	flaw := ""
	if err != nil {
		flaw = err.Error()
	}
	checkFlaw(t, c.Flaw, flaw)
}
