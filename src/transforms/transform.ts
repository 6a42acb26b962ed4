/** What a transform is, what it is given, and what it makes of it (docs/webhooks.md#what-a-transform-gets). */

export interface Transform {
  /** Of the webhook; for code that is not saved, anything that begins with `test:`. */
  id: string;
  /** Changes whenever the code changes. */
  version: string;
  code: string;
}

export interface TransformRequest {
  /** `evt`: anything that JSON can hold; undefined becomes {}. */
  body: unknown;
  /** `body` as JSON text, where it is at hand. */
  bodyText?: string | undefined;
  headers: Record<string, string>;
  query: Record<string, string[]>;
  raw: string;
}

export interface TransformOutcome {
  /** What the function returned, as JSON has it: an object, not yet proved to be an event, or null for nothing. */
  event: Record<string, unknown> | null;
  /** JSON in which it came, with what was logged: nests deeper than the event. */
  text: string;
  logs: { level: string; text: string }[];
  /** Of the call, without what it took to make the isolate. */
  durationMs: number;
}
