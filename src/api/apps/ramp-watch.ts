/** Watches the versions that ramp up: one whose runs fail more often than its bound allows gets no new runs (docs/change-code-safely.md). */
import { duty } from '../../duties/duty.ts';
import { isExceeded } from '../../model/apps/versions.ts';
import type { Store } from '../../store/store.ts';
import type { Activation } from './activation.ts';

export interface RampWatchDeps extends Pick<Store, 'environments' | 'appVersions'> {
  activation: Pick<Activation, 'abort'>;
}

export const rampWatch = duty<RampWatchDeps>({
  name: 'ramps',
  about: 'Aborts ramps of versions whose runs fail too often',
  scope: 'installation',
  everyMs: 2_000,
  leaseMs: 10_000,
  rounds: (deps) => () => watchRamps(deps),
});

async function watchRamps({ environments, appVersions, activation }: RampWatchDeps): Promise<void> {
  const envs = (await environments.all()).map(({ name }) => name);
  for (const { env, app, ramp } of await appVersions.ramps(envs)) {
    const pin = { app, version: ramp.version };
    await appVersions.keepCountingEnds(env, pin);
    const ends = await appVersions.ends(env, pin);
    const { abortWhen } = ramp;
    if (abortWhen && isExceeded(abortWhen, ends)) await activation.abort(env, app, { ...ramp, abortWhen }, ends);
  }
}
