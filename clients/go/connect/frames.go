package connect

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/tidegate/tidegate/clients/go/internal/hosted"
)

// Messages of a connection are text frames of JSON (docs/protocol.md#connect).

const subprotocol = "v1.connect.tidegate"

// maxFrameBytes: the gateway closes a connection with a longer frame. What is between this and the limit of a response
// fails the call there.
const maxFrameBytes = 12 * 1_048_576

const (
	replyNotCompleted = 0
	replyDone         = 1
	replyError        = 2
)

type frame struct {
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// callRequest has as requestPayload the body of the call, as over HTTP.
type callRequest struct {
	RequestID      string `json:"requestId"`
	LeaseID        string `json:"leaseId"`
	FunctionSlug   string `json:"functionSlug"`
	StepID         string `json:"stepId"`
	RequestPayload string `json:"requestPayload"`
}

type requestAck struct {
	RequestID string `json:"requestId"`
}

type extendLease struct {
	RequestID string `json:"requestId"`
	LeaseID   string `json:"leaseId"`
}

// extendLeaseAck without a new ID means that the lease is lost.
type extendLeaseAck struct {
	RequestID  string `json:"requestId"`
	NewLeaseID string `json:"newLeaseId"`
}

type reply struct {
	RequestID  string `json:"requestId"`
	Status     int    `json:"status"`
	Body       string `json:"body"`
	NoRetry    bool   `json:"noRetry"`
	RetryAfter string `json:"retryAfter,omitempty"`
	SDKVersion string `json:"sdkVersion"`
}

// checkpoint has the body that it would have over HTTP.
type checkpoint struct {
	CheckpointID string `json:"checkpointId"`
	RunID        string `json:"runId"`
	Body         string `json:"body"`
}

type checkpointAck struct {
	CheckpointID string `json:"checkpointId"`
	Status       int    `json:"status"`
}

// intervals are texts such as 10s.
type intervals struct {
	Heartbeat   string `json:"heartbeatInterval"`
	ExtendLease string `json:"extendLeaseInterval"`
}

type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type nothing struct{}

func frameText(kind string, payload any) []byte {
	return encode(map[string]any{"kind": kind, "payload": payload})
}

// encode writes a value that can always be written as JSON, without escapes that only matter in HTML.
func encode(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// read fills in what it can, even if the types of some fields are wrong.
func read[T any](f frame) T {
	var value T
	_ = json.Unmarshal(f.Payload, &value)
	return value
}

func replyOf(requestID, sdk string, r hosted.Reply, maxBytes int) reply {
	status := replyError
	switch r.Status {
	case http.StatusOK:
		status = replyDone
	case http.StatusPartialContent:
		status = replyNotCompleted
	}
	whole := reply{requestID, status, string(r.Body), r.NoRetry, r.RetryAfter, sdk}
	if len(r.Body) < maxBytes/6 || len(frameText("workerReply", whole)) < maxBytes {
		return whole
	}
	message := "the response to the call is too large; store large data elsewhere and return its location"
	body := encode(map[string]string{"name": "OutputTooLarge", "message": message})
	return reply{RequestID: requestID, Status: replyError, Body: string(body), NoRetry: true, SDKVersion: sdk}
}
