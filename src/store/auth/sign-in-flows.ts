/** Single sign-ons in progress. The browser's sealed cookie has the data for the callback; Redis records that the callback was received. */
import type { Sealer } from '../../model/auth/seal.ts';
import { digestOf } from '../../model/auth/secret.ts';
import type { Redis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

export const FLOW_LIFETIME_MS = 10 * 60_000;
const LOCATION = 'single-sign-on';

export interface SignInFlow {
  /** ID of the provider. */
  provider: string;
  state: string;
  nonce: string;
  /** The code verifier of PKCE. */
  verifier: string;
  /** The requested page. */
  next: string;
  /** Unix milliseconds. */
  startedAt: number;
}

export class SignInFlows extends Repository<Redis, { sealer: Sealer }> {
  seal(flow: SignInFlow): string {
    return this.deps.sealer.seal(JSON.stringify(flow), LOCATION);
  }

  /** undefined if the text is not sealed by this installation, or too old */
  open(text: string, nowMs: number): SignInFlow | undefined {
    const opened = this.openText(text, LOCATION);
    const flow = opened === undefined ? undefined : (JSON.parse(opened) as SignInFlow);
    return flow && nowMs - flow.startedAt < FLOW_LIFETIME_MS ? flow : undefined;
  }

  sealText(text: string, location: string): string {
    return this.deps.sealer.seal(text, location);
  }

  openText(text: string, location: string): string | undefined {
    return this.deps.sealer.tryOpen(text, location);
  }

  /** @param id state of a flow, or issuer and ID of a logout token
   *  @returns false if it was used before */
  async use(id: string): Promise<boolean> {
    const key = this.keys.usedSignIn(digestOf(id));
    return (await this.redis.set(key, '', 'PX', FLOW_LIFETIME_MS, 'NX')) !== null;
  }
}
