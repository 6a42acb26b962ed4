/** Sends events: in chunks with an event key, or one by one with the API key. */
import { randomBytes } from 'node:crypto';
import type { ApiClient } from './api-client.ts';
import { parseExact } from './exact-json.ts';
import { CliError, usageError } from './exit-codes.ts';

/** Less than the service's limit of a request (EVENT_MAX_BYTES: 524,288), and of its array. */
const CHUNK_BYTES = 400_000;
const CHUNK_EVENTS = 500;
/** In dev mode any key works. */
const ANY_KEY = 'dev';

export interface SentEvents {
  /** Internal IDs, in the order of the events. */
  ids: string[];
}

/** The JSON texts of the events of a file: an array, or one object a line. @throws CliError */
export function eventsIn(text: string): string[] {
  const clean = text.replace(/^\ufeff/, '').trim();
  const texts = clean.startsWith('[') ? inArray(clean) : clean.split('\n').filter((line) => line.trim() !== '');
  for (const [i, event] of texts.entries()) requireObject(event, i + 1);
  if (texts.length === 0) throw usageError('There are no events');
  return texts;
}

export function chunksOf(texts: readonly string[]): string[][] {
  const chunks: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text) + 1;
    const chunk = chunks.at(-1);
    if (chunk && chunk.length < CHUNK_EVENTS && bytes + size <= CHUNK_BYTES) {
      chunk.push(text);
      bytes += size;
    } else {
      chunks.push([text]);
      bytes = size;
    }
  }
  return chunks;
}

/** @throws CliError that says how many events were accepted before */
export async function sendEvents(api: ApiClient, chunks: readonly string[][]): Promise<SentEvents> {
  const { eventKey, apiKey } = api.settings;
  const send = eventKey || !apiKey ? withEventKey : withApiKey;
  const ids: string[] = [];
  try {
    for (const chunk of chunks) await send(api, chunk, ids);
  } catch (error) {
    if (ids.length === 0 || !(error instanceof CliError)) throw error;
    const { message, exitCode, hint } = error;
    throw new CliError(`${message}. The first ${ids.length} of ${chunks.flat().length} events were accepted`, {
      exitCode,
      hint,
    });
  }
  return { ids };
}

async function withEventKey(api: ApiClient, chunk: string[], ids: string[]): Promise<void> {
  const { body } = await api.request('POST', `/e/${encodeURIComponent(api.settings.eventKey ?? ANY_KEY)}`, {
    body: `[${chunk.join(',')}]`,
    // The IDs are derived from the seed, so the same request stores each event once.
    headers: { 'x-service-event-id-seed': `${Date.now()},${randomBytes(10).toString('base64')}` },
    isRepeatable: true,
  });
  ids.push(...body.ids);
}

async function withApiKey(api: ApiClient, chunk: string[], ids: string[]): Promise<void> {
  for (const text of chunk) ids.push((await api.post('/v1/events', text)).data.internal_id);
}

function inArray(text: string): string[] {
  try {
    // Each event with its digits; parseExact keeps them where this Node can.
    return (parseExact(text) as unknown[]).map((event) => JSON.stringify(event));
  } catch (error) {
    throw usageError(`The events are not JSON: ${(error as Error).message}`);
  }
}

function requireObject(text: string, number: number): void {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch (error) {
    throw usageError(
      `Event ${number} is not JSON: ${(error as Error).message}`,
      'Write one JSON object a line, or an array of them',
    );
  }
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    throw usageError(`Event ${number} is not an object`);
  }
}
