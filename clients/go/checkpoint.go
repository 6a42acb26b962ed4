package tidegate

import (
	"context"
	"net/http"
	"net/url"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// checkpointer stores finished steps while the call goes on (docs/protocol.md#checkpoints). It is nil when the function
// does not want that, or the service does not offer it.
func (h *AppHandler) checkpointer(f *function, c call) func(context.Context, replay.Op) bool {
	if !f.checkpoint || c.executionID == "" || c.replay.RequestedStep != "" {
		return nil
	}
	return func(ctx context.Context, op replay.Op) bool {
		body, err := replay.Encode(fields{
			"run_id": c.runID,
			"fn_id":  c.functionUUID,
			"qi_id":  c.executionID,
			"steps":  []replay.Op{op},
		})
		if err != nil {
			return false
		}
		a, err := h.client.post(ctx, "/v1/checkpoint/"+url.PathEscape(c.runID)+"/async", body)
		// Otherwise the step is in the answer, as if there were no checkpoints. When the service has given the call up, no
		// answer matters.
		return err == nil && a.status == http.StatusOK
	}
}
