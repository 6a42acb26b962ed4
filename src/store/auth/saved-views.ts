/** Saved views: filters, columns and density of a list under a name, per environment and user. API keys, and dev mode without sign-in,
 *  share the views of the installation. */
import type { Principal } from '../../model/auth/access.ts';
import { changeField } from '../redis/changed-field.ts';
import { Repository } from '../redis/repository.ts';

/** Maximum per user and environment. */
export const MAX_VIEWS = 100;

export interface SavedView {
  id: string;
  list: string;
  name: string;
  /** Query string of the list's page, without `?`. */
  query: string;
  createdAt: number;
}

export class SavedViews extends Repository {
  /** Views in order of creation. */
  async all(env: string, owner: string): Promise<SavedView[]> {
    const texts = await this.redis.hvals(this.keys.savedViews(env, owner));
    return texts.map((text) => JSON.parse(text) as SavedView).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** @returns false if the maximum number is reached */
  async save(env: string, owner: string, view: SavedView): Promise<boolean> {
    const place = { key: this.keys.savedViews(env, owner), field: view.id, fieldsMax: MAX_VIEWS };
    return changeField(this.redis, place, () => JSON.stringify(view));
  }

  /** @returns whether it existed */
  async remove(env: string, owner: string, id: string): Promise<boolean> {
    return (await this.redis.hdel(this.keys.savedViews(env, owner), id)) > 0;
  }

  /** Called when a user is removed. */
  async removeAll(envs: readonly string[], owner: string): Promise<void> {
    for (const env of envs) await this.redis.unlink(this.keys.savedViews(env, owner));
  }
}

/** Users have their own views; all other principals share one set. */
export function viewOwnerOf({ kind, id }: Pick<Principal, 'kind' | 'id'>): string {
  return kind === 'user' ? `user-${id}` : 'installation';
}
