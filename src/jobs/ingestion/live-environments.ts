/** Events of environments that were deleted after these were accepted: nobody can read them any more, and they would be left behind. */
import { PRODUCTION } from '../../model/environment.ts';
import type { Envelope } from '../../model/events/event.ts';
import type { Environments } from '../../store/environments/environments.ts';

/** @returns those of environments that there are, archived ones among them */
export async function ofLiveEnvironments(
  events: readonly Envelope[],
  environments: Pick<Environments, 'read'>,
): Promise<readonly Envelope[]> {
  const others = new Set(events.map(({ env }) => env));
  others.delete(PRODUCTION);
  if (others.size === 0) return events;
  const gone = new Set<string>();
  for (const env of others) {
    const environment = await environments.read(env);
    if (!environment || environment.deletingAt !== undefined) gone.add(env);
  }
  return gone.size === 0 ? events : events.filter(({ env }) => !gone.has(env));
}
