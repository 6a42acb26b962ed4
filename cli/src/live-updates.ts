/** The live updates of an environment: `GET /v1/stream`, server-sent events. Connects again when the connection ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, Json } from './api-client.ts';
import { CliError, EXIT } from './exit-codes.ts';

const RETRY_MS = 2_000;

export interface LiveUpdate {
  /** `hello` begins each connection, and is repeated when updates may have been lost. */
  kind: 'hello' | 'events' | 'runs' | string;
  data: Json;
}

/** Ends when the signal is aborted. @throws CliError if the service cannot be reached at first, or rejects the request */
export async function* liveUpdates(
  api: ApiClient,
  signal: AbortSignal,
  onLoss: (reason: string) => void,
): AsyncGenerator<LiveUpdate> {
  let connected = false;
  for (;;) {
    try {
      const response = await api.open('/v1/stream', { accept: 'text/event-stream' });
      connected = true;
      yield* messagesOf(response);
      onLoss('The service ended the connection');
    } catch (error) {
      if (signal.aborted || !connected || !isOutage(error)) throw error;
      onLoss((error as Error).message);
    }
    await sleep(RETRY_MS, undefined, { signal });
  }
}

function isOutage(error: unknown): boolean {
  return !(error instanceof CliError) || error.exitCode === EXIT.unreachable;
}

async function* messagesOf(response: Response): AsyncGenerator<LiveUpdate> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const kind = /^event: (.*)$/m.exec(message)?.[1];
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (kind !== undefined && data !== undefined) yield { kind, data: JSON.parse(data) };
    }
  }
}
