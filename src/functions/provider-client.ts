/** Calls the APIs of webhook providers, within the address rules for apps. Redirects are not followed: the request has
 *  a key. Life cycle: one per process; `send` any number of times concurrently; `close`. */
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'undici';
import type { OutboundSettings } from '../config.ts';
import { SERVER_SDK } from './headers.ts';
import { AddressBlocked, HttpAgent, ResponseTooLarge, readText } from './http-agent.ts';

/** For the whole response: a body that arrives slowly is cut off. */
const TIMEOUT_MS = 15_000;
/** A page of 100 items of 320 KB, or one item of 25 MiB. */
const MAX_BYTES = 32 * 1_048_576;

export interface ProviderResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** There is no response. */
export class ProviderUnreachable extends Error {
  override name = 'ProviderUnreachable';
  readonly reason: 'address_blocked' | 'provider_silent' | 'response_too_large' | 'provider_unreachable';

  constructor(reason: ProviderUnreachable['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export class ProviderClient {
  readonly #agent: HttpAgent;
  readonly #timeoutMs: number;

  constructor(outbound: OutboundSettings, timeoutMs = TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs;
    this.#agent = new HttpAgent({ timeoutMs, outbound });
  }

  /** Resolves for any status. @throws ProviderUnreachable */
  async send(method: 'GET' | 'POST', url: string, headers: Record<string, string>): Promise<ProviderResponse> {
    const { host } = new URL(url);
    try {
      const response = await request(url, {
        method,
        headers: { 'user-agent': SERVER_SDK, ...headers, 'accept-encoding': 'identity' },
        dispatcher: this.#agent.for('production'),
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      const { statusCode: status } = response;
      return { status, headers: response.headers, text: await readText(response.body, MAX_BYTES) };
    } catch (error) {
      throw unreachable(error as Error, host, this.#timeoutMs);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function unreachable(error: Error, host: string, timeoutMs: number): ProviderUnreachable {
  if (error instanceof AddressBlocked) {
    return new ProviderUnreachable('address_blocked', `the request was not made: ${error.message}`);
  }
  if (error instanceof ResponseTooLarge) {
    return new ProviderUnreachable('response_too_large', `the response of ${host} is larger than ${MAX_BYTES} bytes`);
  }
  if (error.name === 'TimeoutError' || /Timeout/.test(error.name)) {
    return new ProviderUnreachable('provider_silent', `${host} did not answer within ${timeoutMs / 1_000} s`);
  }
  return new ProviderUnreachable('provider_unreachable', `the request to ${host} failed: ${error.message}`);
}
