package tidegate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// SendSignal ends the step that waits for the signal, and returns the ID of its run. The ID is empty when no step waits:
// a signal is not stored for later. In a function, prefer step.SendSignal.
func (c *Client) SendSignal(ctx context.Context, signal string, data any) (string, error) {
	body, err := replay.Encode(fields{"signal": signal, "data": data})
	if err != nil {
		return "", fmt.Errorf("the data of the signal %q cannot be written as JSON: %w", signal, err)
	}
	a, err := c.post(ctx, "/v1/signals", body)
	if err != nil {
		return "", err
	}
	var told struct {
		Data struct {
			RunID string `json:"run_id"`
		} `json:"data"`
		Error json.RawMessage `json:"error"`
		Code  string          `json:"code"`
	}
	// What cannot be read has none of these.
	_ = json.Unmarshal(a.body, &told)
	switch {
	case a.ok() && told.Data.RunID != "":
		return told.Data.RunID, nil
	case a.status == http.StatusNotFound && told.Code == "not_found":
		return "", nil
	default:
		return "", refusedBy(a, fmt.Sprintf("the signal %q", signal))
	}
}

// post sends JSON to the service, as the app.
func (c *Client) post(ctx context.Context, path string, body []byte) (answer, error) {
	s, err := c.settings()
	if err != nil {
		return answer{}, err
	}
	header := http.Header{}
	header.Set("content-type", "application/json")
	return askService(ctx, serviceRequest{http.MethodPost, path, header, body}, s)
}

// refusedBy is the error of a response other than the expected one.
func refusedBy(a answer, what string) error {
	var body struct {
		Error json.RawMessage `json:"error"`
		Code  json.RawMessage `json:"code"`
	}
	// What cannot be read has none of these.
	_ = json.Unmarshal(a.body, &body)
	reason := firstOf(textOf(body.Error), fmt.Sprintf("it answered %d", a.status))
	return &ServeError{Status: a.status, Code: textOf(body.Code), Message: fmt.Sprintf("The service refused %s: %s", what, reason)}
}
