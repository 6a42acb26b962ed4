/** Names of the objects that audit entries are about: an ID says nothing to people, least of all when its object is gone. */
import { Composed } from '../../model/values/composed.ts';
import type { Store } from '../../store/store.ts';

type TargetNamesDeps = Pick<Store, 'webhooks' | 'webhookIssues' | 'eventKeys' | 'apiKeys' | 'users'>;
type Find = (deps: TargetNamesDeps, id: string) => Promise<string | undefined>;

/** Keyed by the part of the path before the ID. Other objects have their name as their ID, or none. */
const FINDS: Record<string, Find> = {
  webhooks: async ({ webhooks }, id) => (await webhooks.read(id))?.name,
  'webhook-issues': async ({ webhookIssues, webhooks }, id) => {
    const issue = await webhookIssues.find(id);
    return issue && (await webhooks.read(issue.webhookId))?.name;
  },
  'event-keys': async ({ eventKeys }, id) => (await eventKeys.read(id))?.name,
  'api-keys': async ({ apiKeys }, id) => (await apiKeys.all()).find((key) => key.id === id)?.name,
  users: async ({ users }, id) => (await users.read(id))?.email,
};

export class TargetNames extends Composed<TargetNamesDeps> {
  /** Call before a request changes the object.
   *  @param path path of the route, such as `/v1/webhooks/:id/pause`
   *  @returns undefined: the object is not there, has no name other than its ID, or cannot be read now */
  async of(path: string, params: Readonly<Record<string, string>>): Promise<string | undefined> {
    const [, , kind = '', param = ''] = path.split('/');
    const id = params[param.slice(1)];
    if (id === undefined || !param.startsWith(':') || !Object.hasOwn(FINDS, kind)) return undefined;
    return (FINDS[kind] as Find)(this.deps, id).catch(() => undefined);
  }
}
