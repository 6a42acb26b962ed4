package tidegate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// app is what registers.
type app struct {
	id string
	// url is where the service will call it.
	url       string
	framework string
	functions []*function
	// whatIf is of the what-if that asks for the registration, or empty.
	whatIf string
}

// registered is the service's response. Its fields are passed on unchanged.
type registered struct {
	OK       *bool           `json:"ok"`
	Error    json.RawMessage `json:"error"`
	Message  json.RawMessage `json:"message"`
	Modified json.RawMessage `json:"modified"`
}

// register tells the service the app's address and functions (POST {service}/fn/register). It fails with a *ServeError
// when the service refuses or could not be reached, or with a *ConfigError.
func register(ctx context.Context, a app, s settings) (registered, error) {
	body, err := replay.Encode(a.payload(s.options.AppVersion))
	if err != nil {
		return registered{}, err
	}
	header := http.Header{}
	header.Set("content-type", "application/json")
	header.Set(headerFramework, a.framework)
	header.Set(headerExpectedServerKind, s.mode())
	if a.whatIf != "" {
		header.Set(headerWhatIf, a.whatIf)
	}
	got, err := askService(ctx, serviceRequest{http.MethodPost, "/fn/register", header, body}, s)
	if err != nil {
		return registered{}, err
	}
	var outcome registered
	// A body that cannot be parsed has none of these fields.
	_ = json.Unmarshal(got.body, &outcome)
	if got.ok() && (outcome.OK == nil || *outcome.OK) {
		return outcome, nil
	}
	// It has answered, so its address is known.
	baseURL, _ := s.baseURL()
	reason := firstOf(textOf(outcome.Error), fmt.Sprintf("it answered %d", got.status))
	message := fmt.Sprintf("The service at %s refused to register the app: %s%s", baseURL, reason, s.refusedHint(got.status))
	return registered{}, &ServeError{Status: http.StatusInternalServerError, Message: message}
}

func (a app) payload(version string) fields {
	functions := make([]fields, len(a.functions))
	for i, f := range a.functions {
		address := a.url + "?fnId=" + url.QueryEscape(f.compositeID()) + "&stepId=step"
		functions[i] = f.onTheWire(fields{"type": "http", "url": address})
	}
	payload := fields{
		"url":        a.url,
		"deployType": "ping",
		"appName":    a.id,
		"sdk":        sdkName,
		"v":          "0.1",
		"framework":  a.framework,
		"functions":  functions,
	}
	if version != "" {
		payload["appVersion"] = version
	}
	return payload
}

// onTheWire has in runtime how the service calls the function.
func (f *function) onTheWire(runtime fields) fields {
	wire := f.flow.onTheWire()
	wire["id"] = f.compositeID()
	wire["name"] = f.name
	if f.description != "" {
		wire["description"] = f.description
	}
	if f.group != "" {
		wire["group"] = f.group
	}
	if f.versioning != "" {
		wire["versioning"] = f.versioning
	}
	if f.onExhausted != "" {
		wire["onExhausted"] = f.onExhausted
	}
	wire["triggers"] = f.triggers
	wire["steps"] = fields{"step": fields{
		"id":      "step",
		"name":    "step",
		"runtime": runtime,
		"retries": fields{"attempts": f.retries},
	}}
	return wire
}
