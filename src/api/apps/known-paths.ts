/** Checks whether apps are still at their known paths when they register at others (docs/security.md#addresses-of-apps). */
import type { HttpAgent } from '../../functions/http-agent.ts';
import { type AppToProbe, probeApp } from '../../functions/probe.ts';
import { mayStillBeThere } from '../../model/apps/app-problems.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Store } from '../../store/store.ts';

/** Time limit of a probe: short, because the app waits for the response to its registration. */
const TIMEOUT_MS = 3_000;
/** Registrations within this time share a probe, because anybody can cause them. */
const SHARED_MS = 10_000;

export class KnownPaths extends Composed<{
  signingKeys: Pick<Store['signingKeys'], 'current'>;
  environmentKinds: Pick<Store['environmentKinds'], 'of'>;
  httpAgent: HttpAgent;
}> {
  /** Keyed by environment and URL, oldest first. */
  readonly #probes = new Map<string, { isThere: Promise<boolean>; startedAt: number }>();

  /** @param known the known path, at an allowed origin */
  async isKept(env: string, known: Pick<AppToProbe, 'url' | 'dialect'>): Promise<boolean> {
    const now = performance.now();
    for (const [key, { startedAt }] of this.#probes) {
      if (now - startedAt < SHARED_MS) break;
      this.#probes.delete(key);
    }
    const key = JSON.stringify([env, known.url]);
    const shared = this.#probes.get(key);
    if (shared) return shared.isThere;
    const isThere = this.#probe(env, known);
    this.#probes.set(key, { isThere, startedAt: now });
    isThere.catch(() => this.#probes.delete(key));
    return isThere;
  }

  async #probe(env: string, known: Pick<AppToProbe, 'url' | 'dialect'>): Promise<boolean> {
    const { signingKeys, environmentKinds, httpAgent } = this.deps;
    const signingKey = await signingKeys.current(env);
    const agent = httpAgent.for(await environmentKinds.of(env));
    return mayStillBeThere(await probeApp({ ...known, dev: false, signingKey, timeoutMs: TIMEOUT_MS }, agent));
  }
}
