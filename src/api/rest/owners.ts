/** Finds the environment that owns the object of a request. Webhooks and event keys belong to one environment or to
 *  all branches; requests and events of a webhook belong to its owner. */
import { notFound, ServiceError } from '../../errors.ts';
import { covers } from '../../model/auth/access.ts';
import { type EnvironmentRef, type Owner, refOfOwner } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { Store } from '../../store/store.ts';
import { ownerSchema } from '../views/owner.ts';
import type { AccessTo, OwnerOf } from './route.ts';

export function ownerOfWebhook(webhooks: Pick<Store['webhooks'], 'read'>): OwnerOf {
  return ownerOfRead('webhook', webhooks);
}

export function ownerOfIssue({ webhooks, webhookIssues }: Pick<Store, 'webhooks' | 'webhookIssues'>): OwnerOf {
  return {
    async find({ params: { issue: id = '' } }) {
      const issue = await webhookIssues.find(id);
      const webhook = issue && (await webhooks.read(issue.webhookId));
      return webhook && refOfOwner(webhook.env);
    },
    missing: ({ params: { issue: id = '' } }) => notFound('issue', id),
  };
}

export function ownerOfEventKey(eventKeys: Pick<Store['eventKeys'], 'read'>): OwnerOf {
  return ownerOfRead('event key', eventKeys);
}

function ownerOfRead(what: string, objects: { read(id: string): Promise<{ env: string } | undefined> }): OwnerOf {
  return {
    async find({ params: { id = '' } }) {
      const object = await objects.read(id);
      return object && refOfOwner(object.env);
    },
    missing: ({ params: { id = '' } }) => notFound(what, id),
  };
}

export function ownerOfHeldEvent({ heldEvents, webhooks }: Pick<Store, 'heldEvents' | 'webhooks'>): OwnerOf {
  return {
    async find({ params: { id = '' } }) {
      const held = await heldEvents.read(id);
      return held && (await ownersOfWebhooks(webhooks))(held.webhookId);
    },
    missing: ({ params: { id = '' } }) => heldEventNotFound(id),
  };
}

export function heldEventNotFound(id: string, why = ''): ServiceError {
  return new ServiceError('not_found', { detail: `there is no held event with the ID "${id}"${why}` });
}

/** The objects that the principal may see. */
export function visible<Owned extends { env: string }>(all: readonly Owned[], accessTo: AccessTo): Owned[] {
  return all.filter(({ env }) => covers(accessTo(refOfOwner(env)), 'read'));
}

/** Owners by the ID of a webhook; the owner of a deleted webhook is unknown. */
export async function ownersOfWebhooks(
  webhooks: Pick<Store['webhooks'], 'all'>,
): Promise<(webhookId: string) => Owner> {
  const owners = new Map((await webhooks.all()).map(({ id, env }) => [id, refOfOwner(env)]));
  return (id) => owners.get(id) ?? 'unknown';
}

/** The owner that the field `environment` of a new object names. */
export const ownerInBody: OwnerOf = {
  async find({ body }) {
    const { environment } = (body ?? {}) as { environment?: unknown };
    const parsed = ownerSchema.safeParse(environment);
    return parsed.success ? refOfOwner(parsed.data) : undefined;
  },
};

/** The environment `:name`. */
export function environmentInPath(read: (name: string) => Promise<EnvironmentRef | undefined>): OwnerOf {
  return {
    find: ({ params: { name = '' } }) => read(name),
    missing: ({ params: { name } }) => new ServiceError('environment_unknown', { detail: `got ${describe(name)}` }),
  };
}
