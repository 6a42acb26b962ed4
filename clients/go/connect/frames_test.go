package connect

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/clients/go/internal/hosted"
)

func TestAResponseThatIsTooLargeForAFrameFailsTheCall(t *testing.T) {
	var failure struct{ Name string }
	large := replyOf("c1", "go:v1", hosted.Reply{Status: http.StatusOK, Body: encode(strings.Repeat("x", 1_000))}, 1_000)
	if err := json.Unmarshal([]byte(large.Body), &failure); err != nil || failure.Name != "OutputTooLarge" || large.Status != replyError || !large.NoRetry {
		t.Errorf("got %+v, %v", large, err)
	}
	if small := replyOf("c1", "go:v1", hosted.Reply{Status: http.StatusOK, Body: encode(strings.Repeat("x", 500))}, 1_000); small.Status != replyDone {
		t.Errorf("got the status %d", small.Status)
	}
}
