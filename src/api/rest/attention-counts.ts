/** Counts held events and open issues of the webhooks of an environment, or, for a branch, of the webhooks that all branches share.
 *  Webhooks that the principal may not see count as none. */
import { covers } from '../../model/auth/access.ts';
import { ownerOf, refOf, refOfOwner } from '../../model/environment.ts';
import type { Store } from '../../store/store.ts';
import type { AccessTo } from './route.ts';

type Parts = Pick<Store, 'environments' | 'webhooks' | 'webhookIssues' | 'heldEvents'>;

/** @returns the owner of the environment's webhooks; undefined: the principal may not see them */
async function visibleOwner(env: string, accessTo: AccessTo, { environments }: Parts): Promise<string | undefined> {
  const owner = ownerOf(refOf(env, await environments.findOrFetch(env)));
  return covers(accessTo(refOfOwner(owner)), 'read') ? owner : undefined;
}

export async function countHeldEvents(env: string, accessTo: AccessTo, parts: Parts, nowMs: number): Promise<number> {
  const owner = await visibleOwner(env, accessTo, parts);
  return owner === undefined ? 0 : parts.heldEvents.count(nowMs, owner);
}

/** Reads each open issue: a webhook has at most one of each kind. */
export async function countOpenIssues(env: string, accessTo: AccessTo, parts: Parts, nowMs: number): Promise<number> {
  const owner = await visibleOwner(env, accessTo, parts);
  if (owner === undefined) return 0;
  const ids = await parts.webhookIssues.webhooksWith('open', nowMs);
  const found = await parts.webhooks.readEach([...new Set(ids)]);
  const ofOwner = new Set(found.filter((webhook) => webhook.env === owner).map(({ id }) => id));
  return ids.filter((id) => ofOwner.has(id)).length;
}
