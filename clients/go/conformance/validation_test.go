package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

type validationCase struct {
	titled
	Events json.RawMessage `json:"events"`
	// Untyped events do not fit tidegate.Event.
	Untyped bool `json:"untyped"`
	IDs     *int `json:"ids"`
	Error   *struct {
		Status  int      `json:"status"`
		Code    string   `json:"code"`
		Message []string `json:"message"`
	} `json:"error"`
	Stored []map[string]json.RawMessage `json:"stored"`
}

// validation needs the real service: TEST_PRODUCTION_SERVICE, TEST_EVENT_KEY, TEST_API_KEY.
func validation(t *testing.T, c validationCase) {
	service := os.Getenv("TEST_PRODUCTION_SERVICE")
	if service == "" {
		t.Skip("TEST_PRODUCTION_SERVICE is not set: there is no service to ask")
	}
	p := newPlaces()
	p["unique"] = fmt.Sprintf("go-%d", time.Now().UnixNano())
	ids, err := c.send(t, service, p.fillJSON(c.Events))
	if c.Error != nil {
		var send *tidegate.SendError
		if !errors.As(err, &send) || send.Status != c.Error.Status || send.Code != c.Error.Code {
			t.Fatalf("expected %d %s, got %v", c.Error.Status, c.Error.Code, err)
		}
		p.checkMessage(t, c.Error.Message, send.Message)
		return
	}
	if err != nil || len(ids) != *c.IDs {
		t.Fatalf("expected %d IDs, got %d, %v", *c.IDs, len(ids), err)
	}
	for i, stored := range c.Stored {
		checkStored(t, p, service, ids[i], stored)
	}
}

func (c validationCase) send(t *testing.T, service string, text json.RawMessage) ([]string, error) {
	t.Helper()
	if c.Untyped {
		return post(t, service, text)
	}
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", BaseURL: service, EventKey: os.Getenv("TEST_EVENT_KEY")})
	if err != nil {
		t.Fatal(err)
	}
	var list events
	read(t, text, &list)
	return list.sendTo(t.Context(), client)
}

// post sends what no tidegate.Event is, by a plain request.
func post(t *testing.T, service string, text json.RawMessage) ([]string, error) {
	t.Helper()
	response, err := http.Post(service+"/e/"+os.Getenv("TEST_EVENT_KEY"), "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		IDs         []string
		Error, Code string
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode == http.StatusOK {
		return answer.IDs, nil
	}
	return nil, &tidegate.SendError{Message: answer.Error, Status: response.StatusCode, Code: answer.Code}
}

// checkStored waits until the event is stored, by asking again, and compares the fields that are named.
func checkStored(t *testing.T, p places, service, id string, expected map[string]json.RawMessage) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	late := time.After(10 * time.Second)
	status, body := lookUp(t, service, id)
	for status != http.StatusOK {
		select {
		case <-again.C:
			status, body = lookUp(t, service, id)
		case <-late:
			t.Fatalf("the event %s was not stored in time: %d %s", id, status, body)
		}
	}
	var found struct{ Data map[string]json.RawMessage }
	if err := json.Unmarshal(body, &found); err != nil {
		t.Fatal(err)
	}
	for name, value := range expected {
		got := found.Data[name]
		if got == nil {
			got = json.RawMessage("null")
		}
		p.checkJSON(t, name, value, got)
	}
}

func lookUp(t *testing.T, service, id string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service+"/v1/events/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("authorization", "Bearer "+os.Getenv("TEST_API_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}
