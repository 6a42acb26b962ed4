// Package lambda hosts an app in AWS Lambda, behind a function URL or an API Gateway (HTTP API or REST API), without
// AWS's libraries in this module. Its handler is what lambda.Start of github.com/aws/aws-lambda-go takes:
//
//	app, err := tidegate.Serve(client, tidegate.ServeOpts{Framework: "aws-lambda", Origin: "https://shop.example"}, thank)
//	awslambda.Start(lambda.Handler(app))
//
// Origin, or SERVICE_SERVE_ORIGIN, is the address of the function URL or API, and ServeOpts.Path what follows it.
package lambda

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

// Event is a request, as API Gateway and function URLs hand it on: in payload format 1.0 or 2.0.
type Event struct {
	// Headers are of both formats; MultiValueHeaders of 1.0.
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`

	// Payload format 1.0, whose query is decoded.
	HTTPMethod      string              `json:"httpMethod"`
	Path            string              `json:"path"`
	Query           map[string]string   `json:"queryStringParameters"`
	MultiValueQuery map[string][]string `json:"multiValueQueryStringParameters"`

	// Payload format 2.0.
	RawPath        string `json:"rawPath"`
	RawQueryString string `json:"rawQueryString"`

	RequestContext struct {
		// Path, of 1.0, has the stage too.
		Path string `json:"path"`
		HTTP struct {
			Method string `json:"method"`
		} `json:"http"`
	} `json:"requestContext"`
}

// Response is what both formats take.
type Response struct {
	StatusCode      int               `json:"statusCode"`
	Headers         map[string]string `json:"headers"`
	Body            string            `json:"body"`
	IsBase64Encoded bool              `json:"isBase64Encoded"`
}

var errNoRequest = errors.New("the event is no request of a function URL or an API Gateway: it has no method")

// Handler answers events with the app. It fails for an event that is no request.
func Handler(app *tidegate.AppHandler) func(context.Context, Event) (Response, error) {
	return func(ctx context.Context, event Event) (Response, error) {
		request, err := event.request()
		if err != nil {
			return Response{}, err
		}
		answer := app.Answer(ctx, request)
		headers := map[string]string{}
		for name := range answer.Header {
			headers[name] = answer.Header.Get(name)
		}
		return Response{StatusCode: answer.Status, Headers: headers, Body: string(answer.Body)}, nil
	}
}

func (e Event) request() (tidegate.AppRequest, error) {
	method, address := e.HTTPMethod, e.address()
	if method == "" {
		method, address = e.RequestContext.HTTP.Method, e.RawPath
		if e.RawQueryString != "" {
			address += "?" + e.RawQueryString
		}
	}
	if method == "" {
		return tidegate.AppRequest{}, errNoRequest
	}
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return tidegate.AppRequest{}, errors.New("the body of the event is not base64, though it says so")
		}
	}
	return tidegate.AppRequest{Method: method, URL: address, Secure: true, Header: e.header(), Body: body}, nil
}

// address is of format 1.0.
func (e Event) address() string {
	path := e.RequestContext.Path
	if path == "" {
		path = e.Path
	}
	query := url.Values(e.MultiValueQuery)
	if query == nil {
		query = url.Values{}
		for name, value := range e.Query {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

func (e Event) header() http.Header {
	header := http.Header{}
	for name, value := range e.Headers {
		header.Set(name, value)
	}
	for name, values := range e.MultiValueHeaders {
		header.Del(name)
		for _, value := range values {
			header.Add(name, value)
		}
	}
	return header
}
