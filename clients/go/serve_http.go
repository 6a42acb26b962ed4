package tidegate

import (
	"fmt"
	"io"
	"net/http"
)

// maxBodyBytes: the service trims a call past 4 MiB, so a much larger body is not a call.
const maxBodyBytes = 16 * 1_024 * 1_024

// ServeHTTP answers over net/http. Mount it before anything that reads the body.
func (h *AppHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := r.Header.Clone()
	header.Set("host", r.Host)
	request := AppRequest{Method: r.Method, URL: r.RequestURI, Secure: r.TLS != nil, Header: header}
	if request.URL == "" {
		request.URL = r.URL.RequestURI()
	}
	a := h.answerWithBody(r, request)
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	// A client that has gone needs no response.
	_, _ = w.Write(a.Body)
}

func (h *AppHandler) answerWithBody(r *http.Request, request AppRequest) AppAnswer {
	body, err := readBody(r)
	if err != nil {
		return h.refusal(err)
	}
	request.Body = body
	return h.Answer(r.Context(), request)
}

// readBody reads and drops a body that is too large, so that the response arrives.
func readBody(r *http.Request) ([]byte, error) {
	if r.Method != http.MethodPost {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes+1))
	if err == nil && len(body) > maxBodyBytes {
		_, err = io.Copy(io.Discard, r.Body)
		if err == nil {
			message := fmt.Sprintf("The body is larger than %d bytes", maxBodyBytes)
			return nil, &ServeError{Status: http.StatusRequestEntityTooLarge, Message: message}
		}
	}
	return body, err
}
