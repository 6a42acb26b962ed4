/** Tokens for the response of one run, which an app passes on to its endpoint's client. Tokens are not stored. */
import { ServiceError } from '../../errors.ts';
import { SubscriptionTokens } from '../../model/realtime/subscription-token.ts';
import { RESPONSE_TOPIC } from '../../model/realtime/topics.ts';
import { DAY_MS } from '../../model/values/time.ts';

const VALID_MS = DAY_MS;

export class ResponseTokens {
  readonly #tokens: SubscriptionTokens;

  /** @param fallback the previous secret, whose tokens stay valid */
  constructor(secret: string, fallback: string | undefined) {
    this.#tokens = new SubscriptionTokens(secret, fallback);
  }

  /** The token authorizes reading the response, and following it while the endpoint streams it. */
  of(env: string, runId: string, nowMs: number): { token: string; realtime_token: string } {
    const topics = new Map([[runId, new Set([RESPONSE_TOPIC])]]);
    const token = this.#tokens.sign({ env, topics }, nowMs + VALID_MS);
    return { token, realtime_token: token };
  }

  /** @returns the environment of the run
   *  @throws ServiceError token_invalid */
  verify(token: unknown, runId: string, nowMs: number): string {
    const permitted = typeof token === 'string' ? this.#tokens.verify(token, nowMs) : undefined;
    if (permitted?.topics.get(runId)?.has(RESPONSE_TOPIC)) return permitted.env;
    throw new ServiceError('token_invalid', { detail: 'it must be the one that the endpoint gave for this run' });
  }
}
