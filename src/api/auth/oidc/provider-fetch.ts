/** Requests to OpenID providers: within 10 s, up to 1 MiB, without redirects. The operator chooses their addresses, so private ones are
 *  allowed; link-local and metadata addresses are not. */
import type { CustomFetch } from 'openid-client';
import { fetch } from 'undici';
import { HttpAgent, readBytes } from '../../../functions/http-agent.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1_048_576;
/** Statuses whose responses have no body. */
const EMPTY = [101, 204, 205, 304];

/** The provider does not answer. */
export class ProviderAway extends Error {
  override name = 'ProviderAway';
}

export class ProviderFetch {
  readonly #agent = new HttpAgent({
    timeoutMs: TIMEOUT_MS,
    outbound: { blockPrivate: false, deny: [], allow: [], branchDeny: [] },
  });

  /** @throws ProviderAway also for 5xx */
  readonly fetch: CustomFetch = async (url, { method, headers, body }) => {
    const { host } = new URL(url);
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const dispatcher = this.#agent.for('production');
      const sent = { method, headers, body: body as string, redirect: 'manual', dispatcher, signal } as const;
      const response = await fetch(url, sent);
      const bytes = await readBytes((response.body ?? []) as AsyncIterable<Buffer>, MAX_BYTES);
      if (response.status >= 500) throw new ProviderAway(`${host} answers ${response.status}`);
      const { status } = response;
      return new Response(EMPTY.includes(status) ? null : new Uint8Array(bytes), {
        status,
        headers: [...response.headers],
      });
    } catch (error) {
      throw error instanceof ProviderAway ? error : new ProviderAway(reasonOf(error as Error, host), { cause: error });
    }
  };

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function reasonOf(error: Error, host: string): string {
  if (error.name === 'TimeoutError') return `${host} did not respond within ${TIMEOUT_MS / 1_000} s`;
  return `the request to ${host} failed: ${error.cause instanceof Error ? error.cause.message : error.message}`;
}
