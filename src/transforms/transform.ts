/** A transform, its request and its outcome (docs/transforms.md#what-a-transform-gets). Read by `scheduler/` and by the
 *  rooms that run transforms. */

import type { BodyReference } from '../model/webhooks/large-bodies.ts';

export interface Transform {
  /** ID of the webhook; unsaved code has an ID that starts with `test:`. */
  id: string;
  /** Changes whenever the code changes. */
  version: string;
  code: string;
}

export interface TransformRequest {
  /** `evt`: any JSON value; undefined: `raw` if that is JSON, otherwise {}. Then only the isolate parses it. */
  body?: unknown;
  headers: Record<string, string>;
  query: Record<string, string[]>;
  raw: string;
  /** Replaces `raw` as the argument: the body is large, and kept elsewhere. */
  reference?: BodyReference | undefined;
}

export interface TransformOutcome {
  /** The return value as JSON, not validated yet: null, an object or a list. */
  returned: Record<string, unknown> | unknown[] | null;
  /** The JSON text of return value and logs: nested deeper than the return value alone. */
  text: string;
  logs: { level: string; text: string }[];
  /** Duration of the call, without creating the isolate. */
  durationMs: number;
}
