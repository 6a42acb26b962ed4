/** Fetches small documents named in requests of providers: certificates, key sets, URLs to confirm. Anybody who knows a webhook's URL can
 *  choose them, so only public addresses are contacted, over HTTPS, without redirects. */
import { request } from 'undici';
import type { OutboundSettings } from '../config.ts';
import { HttpAgent, readText } from './http-agent.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 65_536;

export class DocumentFetcher {
  readonly #agent: HttpAgent;

  /** @param outbound only its exceptions permit non-public addresses */
  constructor(outbound: OutboundSettings) {
    this.#agent = new HttpAgent({ timeoutMs: TIMEOUT_MS, outbound: { ...outbound, blockPrivate: true } });
  }

  /** @throws Error */
  readonly fetch = async (url: string): Promise<string> => {
    if (new URL(url).protocol !== 'https:') throw new Error(`${url} is not an https: URL`);
    const dispatcher = this.#agent.for('production');
    const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await readText(body, MAX_BYTES);
    if (statusCode !== 200) throw new Error(`${url} answers ${statusCode}`);
    return text;
  };

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
