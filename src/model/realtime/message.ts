/** Realtime messages as subscribers receive them (docs/realtime.md). A message is serialized once, by its publisher. */
import { isJson } from '../values/json.ts';
import { iso } from '../values/time.ts';

export interface MessageSource {
  channel: string;
  topic: string;
  /** The run that published it. */
  runId?: string | undefined;
}

/** A message with published data.
 *  @param json text that `dataJson` returned */
export function dataMessage(source: MessageSource, json: string, nowMs: number): string {
  return withData({ kind: 'data', ...fieldsOf(source), created_at: iso(nowMs) }, json);
}

/** A message about the beginning or end of a stream of chunks. */
export function streamMessage(
  kind: 'datastream-start' | 'datastream-end',
  source: MessageSource,
  streamId: string,
  nowMs: number,
): string {
  return JSON.stringify({ kind, ...fieldsOf(source), created_at: iso(nowMs), data: streamId });
}

export function chunkMessage(source: MessageSource, streamId: string, text: string): string {
  return JSON.stringify({ kind: 'chunk', ...fieldsOf(source), stream_id: streamId, data: text });
}

/** A message about the end of a run, on the run's own channel. */
export function runMessage(source: MessageSource, data: unknown, nowMs: number): string {
  return JSON.stringify({ kind: 'run', ...fieldsOf(source), created_at: iso(nowMs), data });
}

/** The data of a message as JSON text without line breaks; a body that is not JSON becomes a string. */
export function dataJson(body: string): string {
  if (body === '') return 'null';
  if (!isJson(body)) return JSON.stringify(body);
  // JSON strings contain no raw line breaks, so these are white space.
  return body.replace(/[\r\n]+/g, ' ');
}

function fieldsOf({ channel, topic, runId }: MessageSource): Record<string, string | undefined> {
  return { channel, topic, run_id: runId };
}

/** Inserts the JSON text unparsed, so that numbers keep all digits. */
function withData(fields: object, json: string): string {
  return `${JSON.stringify(fields).slice(0, -1)},"data":${json}}`;
}
