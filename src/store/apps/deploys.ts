/** The last deploys of each app, and of each environment (the keys `appDeploys` and `deploys`). */

import type { Deploy } from '../../model/apps/deploy.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { luaJson } from '../redis/lua-json.ts';
import { Repository } from '../redis/repository.ts';

/** Deploys outlive the runs that they explain. */
const KEPT_MS = 90 * DAY_MS;
const PER_APP_MAX = 100;
/** Bounded because all are read at once, and a deploy takes up to 4 KiB. */
const PER_ENVIRONMENT_MAX = 500;

export class Deploys extends Repository<ScriptedRedis, { retentionMs: number }> {
  readonly #keptMs = Math.max(KEPT_MS, this.deps.retentionMs);

  /** @returns whether the deploy was added: not if the app's last deploy has the same content */
  async record(env: string, deploy: Deploy): Promise<boolean> {
    const keys = [this.keys.appDeploys(env, deploy.app), this.keys.deploys(env)] as const;
    const text = luaJson(deploy);
    const limits = [PER_APP_MAX, PER_ENVIRONMENT_MAX, this.#keptMs];
    return (await this.redis.recordDeploy(...keys, text, deploy.content, ...limits)) === 1;
  }

  /** Newest first, at most 100 per app and 500 per environment.
   *  @param app undefined: all apps */
  async list(env: string, app?: string): Promise<Deploy[]> {
    const key = app === undefined ? this.keys.deploys(env) : this.keys.appDeploys(env, app);
    const oldest = Date.now() - this.#keptMs;
    const texts = await this.redis.lrange(key, 0, -1);
    return texts.map((text) => JSON.parse(text) as Deploy).filter(({ at }) => at > oldest);
  }
}
