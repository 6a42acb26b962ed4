/** Splits a send into requests within the size limit of the service. */
import { SendError } from './errors.ts';

export interface Chunk {
  /** Index of its first event in the send. */
  index: number;
  /** A JSON array. */
  body: string;
}

/** Splits the events into as few requests as possible, in order.
 *  @throws SendError `body_too_large` if a single event is too large; TypeError if JSON cannot represent an event */
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
    // Plus one byte: the comma or bracket after it.
    const size = Buffer.byteLength(text) + 1;
    if (size + 1 > maxBytes) throw tooLarge(event, index, size - 1, maxBytes);
    if (bytes + size > maxBytes) close(index);
    texts.push(text);
    bytes += size;
  });
  close(events.length);
  return chunks;
}

/** Splits the rest of a send, beginning with a chunk that the service rejected as too large, by the limit that the service reported. @returns
 *  undefined if smaller requests do not help */
export function splitRest(events: readonly unknown[], { index, body }: Chunk, limitBytes = 0): Chunk[] | undefined {
  if (limitBytes <= 0 || limitBytes >= Buffer.byteLength(body)) return undefined;
  try {
    return splitByBytes(events.slice(index), limitBytes).map((chunk) => ({ ...chunk, index: index + chunk.index }));
  } catch {
    return undefined;
  }
}

function tooLarge(event: unknown, index: number, bytes: number, maxBytes: number): SendError {
  const { name } = event as { name?: unknown };
  return new SendError(
    `Event ${index} ("${name}") has ${bytes} bytes as JSON, and a request to the service at most ${maxBytes}; nothing was sent`,
    { code: 'body_too_large' },
  );
}
