package tidegate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// answer of the service, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) ok() bool { return a.status >= 200 && a.status < 300 }

// roundTrip sends one request and reads its response, within the timeout. Its errors never tell the address: a key may be in it.
func roundTrip(ctx context.Context, client *http.Client, method, address string, header http.Header, body []byte, within time.Duration) (answer, error) {
	late := fmt.Errorf("no response within %s", within)
	timed, cancel := context.WithTimeoutCause(ctx, within, late)
	defer cancel()
	request, err := http.NewRequestWithContext(timed, method, address, bytes.NewReader(body))
	if err != nil {
		return answer{}, withoutAddress(err)
	}
	request.Header = header
	response, err := client.Do(request)
	if err != nil {
		return answer{}, reasonOf(timed, late, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, reasonOf(timed, late, err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: text}, nil
}

// reasonOf tells the end of this request's own time from the end of the caller's.
func reasonOf(timed context.Context, late, err error) error {
	if context.Cause(timed) == late {
		return late
	}
	return withoutAddress(err)
}

func withoutAddress(err error) error {
	var withAddress *url.Error
	if errors.As(err, &withAddress) {
		return withAddress.Err
	}
	return err
}
