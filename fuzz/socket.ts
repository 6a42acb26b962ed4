/** Sends bytes on a new socket and reads the response. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Response {
  /** Status of the last response on the connection; undefined without one. */
  status: number | undefined;
  headers: Record<string, string>;
  body: string;
  /** From the last sent byte to the end of the response. */
  ms: number;
  ended: 'answered' | 'closed' | 'reset' | 'silent';
}

const SHOWN_BYTES = 4_194_304;

/** @param patienceMs time to wait, after the last write, for the response and for the connection to close */
export async function sendBytes(
  port: number,
  wire: readonly (Buffer | number)[],
  patienceMs: number,
): Promise<Response> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.setNoDelay(true);
  const chunks: Buffer[] = [];
  let length = 0;
  const finished = Promise.withResolvers<Response['ended']>();
  socket.on('data', (chunk: Buffer) => {
    if (length < SHOWN_BYTES) chunks.push(chunk);
    length += chunk.length;
    // Server-sent events do not end.
    if (chunks.length === 1 && /\r\ncontent-type: text\/event-stream/i.test(chunk.toString('latin1', 0, 4_096))) {
      finished.resolve('answered');
    }
  });
  socket.on('error', () => finished.resolve(length > 0 ? 'answered' : 'reset'));
  socket.on('close', () => finished.resolve(length > 0 ? 'answered' : 'closed'));
  let gone = false;
  void finished.promise.then(() => {
    gone = true;
  });
  for (const part of wire) {
    if (gone) break;
    if (typeof part === 'number') await sleep(part);
    else await write(socket, part, finished.promise);
  }
  const sentAt = performance.now();
  const patience = setTimeout(() => finished.resolve('silent'), patienceMs);
  const ended = await finished.promise;
  clearTimeout(patience);
  const ms = performance.now() - sentAt;
  socket.destroy();
  return { ...parsed(Buffer.concat(chunks)), ms, ended };
}

async function write(socket: ReturnType<typeof connect>, bytes: Buffer, gone: Promise<unknown>): Promise<void> {
  await Promise.race([new Promise<void>((resolve) => socket.write(bytes, () => resolve())), gone]);
}

/** Parses the last response, or an earlier 5xx response to a pipelined request. */
function parsed(bytes: Buffer): Pick<Response, 'status' | 'headers' | 'body'> {
  const text = bytes.toString('utf8');
  const heads = [...text.matchAll(/HTTP\/1\.[01] (\d{3})[^\r\n]*\r\n/g)];
  const worst = heads.reduce<RegExpMatchArray | undefined>(
    (last, head) => (last && Number(last[1]) >= 500 ? last : head),
    undefined,
  );
  if (!worst) return { status: undefined, headers: {}, body: text };
  const start = (worst.index ?? 0) + worst[0].length;
  const end = text.indexOf('\r\n\r\n', start - 2);
  const lines = text.slice(start, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const rest = text.slice(end + 4);
  const body = headers['transfer-encoding'] === 'chunked' ? unchunked(rest) : rest;
  return { status: Number(worst[1]), headers, body };
}

function unchunked(text: string): string {
  let body = '';
  for (let at = 0; ; ) {
    const [line, size] = /^([0-9a-f]+)\r\n/i.exec(text.slice(at, at + 16)) ?? [];
    if (!line || size === '0') return body;
    const start = at + line.length;
    const end = start + Number.parseInt(size as string, 16);
    body += text.slice(start, end);
    at = end + 2;
  }
}
