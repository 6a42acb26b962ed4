/** Follows the live stream in a test. */
import { until } from './until.ts';

export interface Message {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
  data: any;
  /** Time of receipt, by performance.now(). */
  at: number;
}

export interface Stream {
  response: Response;
  /** All messages so far, oldest first. */
  messages: Message[];
  ended(): boolean;
  /** Waits for the first message of the kind that meets the condition. */
  next(event: string, condition?: (message: Message) => unknown): Promise<Message>;
  close(): void;
}

/** Resolves at the first message. @throws if the response is not a stream */
export async function follow(url: string, headers: Record<string, string> = {}): Promise<Stream> {
  const end = new AbortController();
  const response = await fetch(url, { headers, signal: end.signal });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    throw new Error(`no stream, but ${response.status} ${await response.text()}`);
  }
  const messages: Message[] = [];
  let ended = false;
  const read = async () => {
    let text = '';
    for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const parts = (text + chunk).split('\n\n');
      text = parts.pop() as string;
      messages.push(...parts.flatMap(parse));
    }
  };
  // fetch reports an abort as an error.
  read()
    .catch(() => undefined)
    .finally(() => {
      ended = true;
    });
  const stream: Stream = {
    response,
    messages,
    ended: () => ended,
    next: (event, condition = () => true) =>
      until(() => messages.find((message) => message.event === event && condition(message)), {
        describe: () => `a message "${event}" as condition; there came ${JSON.stringify(messages.slice(-5))}`,
      }),
    close: () => end.abort(),
  };
  await stream.next('hello');
  return stream;
}

function parse(block: string): Message[] {
  const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  const event = fields.get('event');
  return event ? [{ event, data: JSON.parse(fields.get('data') ?? 'null'), at: performance.now() }] : [];
}
