package tidegate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/tidegate/tidegate/clients/go/internal/canonical"
	"github.com/tidegate/tidegate/clients/go/internal/clock"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
	"github.com/tidegate/tidegate/clients/go/internal/signature"
)

// ServeOpts say where the app is.
type ServeOpts struct {
	// Path: answer at this one only; others are answered 404. Default: every path that reaches the handler.
	Path string
	// Origin is the address under which the service reaches this app, such as https://shop.example.
	// Default: SERVICE_SERVE_ORIGIN; in dev mode that of the request that asks the app to register.
	Origin string
	// Framework names what hosts the app, for people. Default: net/http.
	Framework string
}

// AppHandler is the app's one address: GET introspects, PUT registers, POST runs a function.
// It is an http.Handler; what is no net/http server calls Answer.
type AppHandler struct {
	client      *Client
	options     ServeOpts
	functions   []*function
	byID        map[string]*function
	checkpoints checkpoints
}

// AppRequest is a request to the app, whatever took it in.
type AppRequest struct {
	Method string
	// URL is path and query, as they were sent.
	URL string
	// Secure says whether it came in over TLS.
	Secure bool
	// Header with the host among them.
	Header http.Header
	// Body is the raw one, as []byte or string, which is better; or what a parser made of it.
	Body any
}

// AppAnswer is to be sent as it is. Its body is JSON.
type AppAnswer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Serve hosts functions. It fails when two of them share an ID, or one is another app's.
func Serve(client *Client, options ServeOpts, functions ...ServableFunction) (*AppHandler, error) {
	options.Framework = firstOf(options.Framework, "net/http")
	h := &AppHandler{client: client, options: options, byID: map[string]*function{}}
	for _, servable := range functions {
		f := servable.function()
		if f.appID != client.AppID() {
			return nil, fmt.Errorf("tidegate: function %q is of the app %q, not %q", f.id, f.appID, client.AppID())
		}
		h.functions = append(h.functions, f)
		if f.onFailure != nil {
			h.functions = append(h.functions, f.onFailure)
		}
	}
	for _, f := range h.functions {
		if h.byID[f.compositeID()] != nil {
			return nil, fmt.Errorf("tidegate: two functions of the app have the ID %q", f.id)
		}
		h.byID[f.compositeID()] = f
	}
	return h, nil
}

// Answer answers a request, whatever took it in.
func (h *AppHandler) Answer(ctx context.Context, r AppRequest) AppAnswer {
	a, err := h.answer(ctx, r)
	if err != nil {
		return h.refusal(err)
	}
	return h.withHeaders(a)
}

func (h *AppHandler) answer(ctx context.Context, r AppRequest) (AppAnswer, error) {
	if h.options.Path != "" && pathOf(r) != h.options.Path {
		return jsonAnswer(http.StatusNotFound, fields{"message": "There is nothing at this path"}), nil
	}
	s, err := h.client.settings()
	if err != nil {
		return AppAnswer{}, err
	}
	switch r.Method {
	case http.MethodGet:
		counts := fields{"function_count": len(h.functions), "mode": s.mode(), "framework": h.options.Framework}
		return jsonAnswer(http.StatusOK, counts), nil
	case http.MethodPut:
		return h.register(ctx, r, s)
	case http.MethodPost:
		return h.call(ctx, r, s)
	default:
		a := jsonAnswer(http.StatusMethodNotAllowed, fields{"message": "Only GET, PUT and POST are answered here"})
		a.Header.Set("allow", "GET, PUT, POST")
		return a, nil
	}
}

func (h *AppHandler) register(ctx context.Context, r AppRequest, s settings) (AppAnswer, error) {
	address, err := urlOf(r, h.options, s)
	if err != nil {
		return AppAnswer{}, err
	}
	got, err := register(ctx, app{h.client.AppID(), address, h.options.Framework, h.functions}, s)
	if err != nil {
		return AppAnswer{}, err
	}
	body := fields{"message": firstOf(textOf(got.Message), "Registered")}
	if got.Modified != nil {
		body["modified"] = got.Modified
	}
	return jsonAnswer(http.StatusOK, body), nil
}

func (h *AppHandler) call(ctx context.Context, r AppRequest, s settings) (AppAnswer, error) {
	c, err := authenticCall(ctx, r, s)
	if err != nil {
		return AppAnswer{}, err
	}
	f, requestedStep, err := h.requested(r)
	if err != nil {
		return AppAnswer{}, err
	}
	c.replay.RequestedStep = requestedStep
	if takesLogs(c, f, s) {
		c.logs = &logCollector{}
	}
	c.errorSource = s.errorSource()
	kept := h.checkpoints.of(ctx, f, c, s, func() { sendLogs(ctx, c, s) })
	var unstored []replay.Op
	if kept != nil {
		c.replay.Checkpoint = kept.keep
	}
	progress := runCall(ctx, f, c, s.logger(), h.service())
	if kept != nil {
		unstored = kept.unstored
	}
	answer := answerOf(progress, c.describe, unstored)
	sendLogs(ctx, c, s)
	return answer, nil
}

// authenticCall is the call of a request that did come from the service; in dev mode nobody asks.
func authenticCall(ctx context.Context, r AppRequest, s settings) (call, error) {
	raw, signed, err := bodyOf(r.Body)
	if err != nil {
		return call{}, err
	}
	if !s.dev {
		keys, err := s.signingKeys()
		if err != nil {
			return call{}, err
		}
		header := r.Header.Get(headerSignature)
		flaw := signature.Flaw(header, signed, keys, clock.Of(ctx).Now())
		if flaw == "" {
			flaw = signature.URLFlaw(r.Header.Get(headerSignatureURL), header, signature.TargetOf(r.URL), signed, keys)
		}
		if flaw != "" {
			return call{}, &ServeError{Status: http.StatusUnauthorized, Message: "Not a call from the service: " + flaw + unsignedHint(header)}
		}
	}
	return readCall(ctx, raw, s)
}

// bodyOf is the body, and what of it was signed. Canonical JSON has doubles only, so of a parsed body it is not what is read.
func bodyOf(body any) (raw, signed []byte, err error) {
	switch text := body.(type) {
	case []byte:
		return text, text, nil
	case string:
		return []byte(text), []byte(text), nil
	}
	if raw, err = replay.Encode(body); err != nil {
		return nil, nil, err
	}
	signed, err = canonical.Marshal(json.RawMessage(raw))
	return raw, signed, err
}

// requested is what the call's address names: a function, and perhaps the one step of it to run.
func (h *AppHandler) requested(r AppRequest) (f *function, step string, err error) {
	target := signature.TargetOf(r.URL)
	f = h.byID[target.FunctionID]
	if f == nil {
		message := fmt.Sprintf("The app has no function %q; register it again", target.FunctionID)
		return nil, "", &ServeError{Status: http.StatusInternalServerError, Message: message}
	}
	step = target.StepID
	if step == "step" {
		step = ""
	}
	return f, step, nil
}

func (h *AppHandler) service() run.Service {
	return run.Service{
		Send: func(ctx context.Context, events []any, seed string) ([]string, error) {
			return h.client.sendAsIs(ctx, events, WithSeed(seed))
		},
		SendSignal: h.client.SendSignal,
		Publish:    h.client.Publish,
	}
}

// refusal is the answer to a request that reached no function. Retrying may help: somebody may mend the app meanwhile.
func (h *AppHandler) refusal(err error) AppAnswer {
	status := http.StatusInternalServerError
	var serve *ServeError
	if errors.As(err, &serve) {
		status = serve.Status
	}
	a := jsonAnswer(status, replay.WireError{Name: nameOf(err), Message: err.Error()})
	a.Header.Set(headerNoRetry, "false")
	return h.withHeaders(a)
}

// withHeaders has what is in every answer.
func (h *AppHandler) withHeaders(a AppAnswer) AppAnswer {
	a.Header.Set("content-type", "application/json")
	a.Header.Set(headerSDK, sdkName)
	a.Header.Set(headerReqVersion, reqVersion)
	a.Header.Set(headerFramework, h.options.Framework)
	return a
}
