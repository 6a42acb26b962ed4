/** Signing keys of connections and streams. A rotation leaves the previous key valid; the next rotation closes what the previous key has
 *  opened. */
import { keyFingerprint } from '../../functions/signing.ts';
import { ownerOfName } from '../../model/environment.ts';
import { Composed } from '../../model/values/composed.ts';
import type { AppGuardDeps } from '../apps/app-requests.ts';

export class ConnectionKeys extends Composed<AppGuardDeps> {
  /** @param fingerprint fingerprint of the key that authenticated the connection or its session */
  async isValid(env: string, fingerprint: string | undefined): Promise<boolean> {
    const { dev, environments, signingKeys } = this.deps;
    if (dev) return true;
    const owner = ownerOfName(environments.find(env));
    return (await signingKeys.find(owner, (key) => keyFingerprint(key) === fingerprint)) !== undefined;
  }
}
