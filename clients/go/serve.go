package tidegate

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/tidegate/tidegate/clients/go/internal/canonical"
	"github.com/tidegate/tidegate/clients/go/internal/clock"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/signature"
)

// ServeOpts say where the app is.
type ServeOpts struct {
	// Path is the only path to serve; other paths get a 404. Default: every path that reaches the handler.
	Path string
	// Origin is the address under which the service reaches this app, such as https://shop.example.
	// Default: SERVICE_SERVE_ORIGIN; in dev mode that of the request that asks the app to register.
	Origin string
	// Framework names what hosts the app, for people. Default: net/http.
	Framework string
}

// AppHandler is the app's one address: GET introspects, PUT registers, POST runs a function.
// It is an http.Handler; servers other than net/http call Answer.
type AppHandler struct {
	client  *Client
	options ServeOpts
	calls   *appCalls
}

// AppRequest is a request to the app, whatever took it in.
type AppRequest struct {
	Method string
	// URL is path and query, unchanged.
	URL string
	// Secure says whether it came in over TLS.
	Secure bool
	// Header with the host among them.
	Header http.Header
	// Body is the raw body as []byte or string, which is better, or the result of a parser.
	Body any
}

// AppAnswer is the response to send, unchanged. Its body is JSON.
type AppAnswer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Serve hosts functions. It fails when two functions share an ID, or a function is another app's.
func Serve(client *Client, options ServeOpts, functions ...ServableFunction) (*AppHandler, error) {
	options.Framework = firstOf(options.Framework, "net/http")
	calls, err := newAppCalls(client, functions)
	if err != nil {
		return nil, err
	}
	return &AppHandler{client: client, options: options, calls: calls}, nil
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
		counts := fields{"function_count": len(h.calls.functions), "mode": s.mode(), "framework": h.options.Framework}
		return jsonAnswer(http.StatusOK, counts), nil
	case http.MethodPut:
		return h.register(ctx, r, s)
	case http.MethodPost:
		body, err := authenticBody(ctx, r, s)
		if err != nil {
			return AppAnswer{}, err
		}
		return h.calls.run(ctx, incomingCall{body: body, target: signature.TargetOf(r.URL)}, s)
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
	a := app{h.client.AppID(), address, h.options.Framework, h.calls.functions, r.Header.Get(headerWhatIf)}
	got, err := register(ctx, a, s)
	if err != nil {
		return AppAnswer{}, err
	}
	body := fields{"message": firstOf(textOf(got.Message), "Registered")}
	if got.Modified != nil {
		body["modified"] = got.Modified
	}
	return jsonAnswer(http.StatusOK, body), nil
}

// authenticBody is the body of a request that is verified as the service's; dev mode verifies nothing.
func authenticBody(ctx context.Context, r AppRequest, s settings) ([]byte, error) {
	raw, signed, err := bodyOf(r.Body)
	if err != nil {
		return nil, err
	}
	if !s.dev {
		keys, err := s.signingKeys()
		if err != nil {
			return nil, err
		}
		header := r.Header.Get(headerSignature)
		flaw := signature.Flaw(header, signed, keys, clock.Of(ctx).Now())
		if flaw == "" {
			flaw = signature.URLFlaw(r.Header.Get(headerSignatureURL), header, signature.TargetOf(r.URL), signed, keys)
		}
		if flaw != "" {
			return nil, &ServeError{Status: http.StatusUnauthorized, Message: "Not a call from the service: " + flaw + unsignedHint(header)}
		}
	}
	return raw, nil
}

// bodyOf returns the body and its signed form. Canonical JSON has only doubles, so a parsed body is not read from it.
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

func (h *AppHandler) refusal(err error) AppAnswer { return h.withHeaders(refusal(err)) }

// withHeaders adds the headers of every response.
func (h *AppHandler) withHeaders(a AppAnswer) AppAnswer {
	a.Header.Set("content-type", "application/json")
	a.Header.Set(headerSDK, sdkName)
	a.Header.Set(headerReqVersion, reqVersion)
	a.Header.Set(headerFramework, h.options.Framework)
	return a
}
