/** Subscribes to realtime messages, also in browsers: this file needs only `fetch`. The token is from `client.subscriptionToken`. */

/** Whoever has it can read the channel. */
export interface SubscriptionToken {
  /** Address of the service. */
  baseUrl: string;
  token: string;
}

export interface RealtimeMessage<Data = unknown> {
  /** `data`; of a stream `datastream-start`, `chunk` and `datastream-end`; `run` at the end of a run. */
  kind: string;
  channel: string;
  topic: string;
  data: Data;
  /** The run that published it, if any. */
  runId?: string;
  /** Chunks only. */
  streamId?: string;
}

export interface SubscribeOptions extends SubscriptionToken {
  /** Ends the subscription. */
  signal?: AbortSignal;
  /** Default: the global fetch. */
  fetch?: typeof fetch;
}

/** Resolves once the subscription is active; messages published from then on are delivered. They end when the connection ends: then subscribe again.
 *  @throws Error if the service rejects the token or cannot be reached */
// biome-ignore lint/suspicious/noExplicitAny: nothing declares the data of messages
export async function subscribe<Data = any>(
  options: SubscribeOptions,
): Promise<AsyncGenerator<RealtimeMessage<Data>, void, void>> {
  const { baseUrl, token, signal, fetch = globalThis.fetch } = options;
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
  const response = await fetch(`${baseUrl}/v1/realtime/sse`, { headers, ...(signal && { signal }) });
  if (!response.ok || !response.body) {
    await response.body?.cancel();
    throw new Error(`The service refused the subscription: it answered ${response.status}`);
  }
  return messages<Data>(response.body, signal);
}

async function* messages<Data>(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (text + decoder.decode(value, { stream: true })).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data:')) yield read<Data>(line.slice('data:'.length));
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function read<Data>(text: string): RealtimeMessage<Data> {
  const { kind, channel, topic, data, run_id: runId, stream_id: streamId } = JSON.parse(text);
  return { kind, channel, topic, data, ...(runId && { runId }), ...(streamId && { streamId }) };
}
