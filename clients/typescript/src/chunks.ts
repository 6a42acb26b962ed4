/** Cutting a send into requests that the service takes: none larger than its limit. */
import { SendError } from './errors.ts';

export interface Chunk {
  /** Of its first event, in the whole send. */
  index: number;
  /** A JSON array. */
  body: string;
}

/** In order, and as few as that allows.
 *  @throws SendError `body_too_large` when one event alone is too large; TypeError when one cannot be written as JSON */
export function splitByBytes(events: readonly unknown[], maxBytes: number): Chunk[] {
  const chunks: Chunk[] = [];
  let texts: string[] = [];
  let bytes = 1;
  const close = (before: number) => {
    if (texts.length > 0) chunks.push({ index: before - texts.length, body: `[${texts.join(',')}]` });
    texts = [];
    bytes = 1;
  };
  events.forEach((event, index) => {
    const text = JSON.stringify(event);
    // One byte more: the comma or bracket after it.
    const size = Buffer.byteLength(text) + 1;
    if (size + 1 > maxBytes) throw tooLarge(event, index, size - 1, maxBytes);
    if (bytes + size > maxBytes) close(index);
    texts.push(text);
    bytes += size;
  });
  close(events.length);
  return chunks;
}

function tooLarge(event: unknown, index: number, bytes: number, maxBytes: number): SendError {
  const { name } = event as { name?: unknown };
  return new SendError(
    `Event ${index} ("${name}") has ${bytes} bytes as JSON, and a request to the service at most ${maxBytes}; nothing was sent`,
    { code: 'body_too_large' },
  );
}
