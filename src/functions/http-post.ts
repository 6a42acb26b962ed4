/** POSTs to an app and buffers the whole response. Uses undici's dispatcher interface instead of `request`: a buffered response needs no
 *  stream, iterator or signal, which took 4 to 14 % of a worker's CPU time. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { ResponseTooLarge } from './http-agent.ts';

/** A complete response of an app. */
export interface CallResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Longest delay of a timer, 25 days. */
const TIMER_MAX_MS = 2 ** 31 - 1;
/** Lower statuses are informational and precede the final response. */
const FIRST_FINAL_STATUS = 200;

/** Responses up to this size are always read, even if others fill the memory. */
const SMALL_BYTES = 1_048_576;

const CUT_OFF: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET']);

/** The connection ended in the middle of the response. */
export class ResponseCutOff extends Error {
  override name = 'ResponseCutOff';

  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Bytes of the responses being read. */
export class ResponseMemory {
  readonly #max: number;
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** @returns whether there was room */
  take(bytes: number): boolean {
    this.#used += bytes;
    return this.#used <= this.#max;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

export interface ResponseLimits {
  /** Time from now to the last byte of the response. */
  timeoutMs: number;
  maxBytes: number;
  /** Shared by all responses. */
  memory?: ResponseMemory;
  /** Ends a longer response after `maxBytes` instead of failing. */
  cuts?: true;
}

/** @throws DOMException TimeoutError; ResponseTooLarge; AddressBlocked; errors of undici */
export function httpPost(
  agent: Dispatcher,
  url: string,
  headers: Record<string, string>,
  body: string | Buffer | null,
  limits: ResponseLimits,
  method: Dispatcher.HttpMethod = 'POST',
): Promise<CallResponse> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const handler = new BufferingHandler(limits, resolve, reject);
    agent.dispatch({ origin, path: pathname + search, method, headers, body }, handler);
  });
}

class BufferingHandler implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number;
  readonly #cuts: boolean;
  readonly #memory: ResponseMemory | undefined;
  readonly #resolve: (response: CallResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #length = 0;

  constructor(
    { timeoutMs, maxBytes, memory, cuts }: ResponseLimits,
    resolve: (response: CallResponse) => void,
    reject: (error: Error) => void,
  ) {
    this.#maxBytes = maxBytes;
    this.#cuts = cuts === true;
    this.#memory = memory;
    this.#resolve = resolve;
    this.#reject = reject;
    const timeOut = () => this.#fail(new DOMException('the request timed out', 'TimeoutError'));
    this.#timer = setTimeout(timeOut, Math.min(timeoutMs, TIMER_MAX_MS));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The request timed out while connecting, so nothing is sent.
    if (this.#failure) controller.abort(this.#failure);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < FIRST_FINAL_STATUS) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failure) return;
    this.#length += chunk.length;
    this.#chunks.push(chunk);
    const hasRoom = this.#memory?.take(chunk.length) ?? true;
    if (this.#length > this.#maxBytes && this.#cuts) {
      this.onResponseEnd();
      this.#failure = new Error('the rest of the response is not read');
      this.#controller?.abort(this.#failure);
    } else if (this.#length > this.#maxBytes) {
      this.#fail(
        new ResponseTooLarge(
          `the response is larger than ${this.#maxBytes} bytes; store large data elsewhere and return its location`,
        ),
      );
    } else if (!hasRoom && this.#length > SMALL_BYTES) {
      this.#fail(new Error('the worker is reading too many large responses at once'));
    }
  }

  onResponseEnd(): void {
    this.#end();
    const body = Buffer.concat(this.#chunks, this.#length).toString('utf8');
    this.#chunks.length = 0;
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    const { code = '' } = error as NodeJS.ErrnoException;
    this.#reject(this.#status > 0 && CUT_OFF.has(code) ? new ResponseCutOff(error) : error);
  }

  /** Called at most twice; the second call has nothing to release. */
  #end(): void {
    clearTimeout(this.#timer);
    this.#memory?.release(this.#chunks.length > 0 ? this.#length : 0);
  }

  #fail(error: Error): void {
    this.#end();
    this.#chunks.length = 0;
    this.#failure = error;
    this.#reject(error);
    this.#controller?.abort(error);
  }
}
