/** `GET /dev`: official SDKs and their tools read it to detect a development server. Dev mode only. */
import { PRODUCTION } from '../../model/environment.ts';
import type { Store } from '../../store/store.ts';
import { VERSION } from '../../version.ts';
import type { Router } from '../http/router.ts';

/** `GET /v1/functions` lists the rest. */
const FUNCTIONS_MAX = 1_000;

export function devInfoRoute(
  router: Router,
  { apps, functions }: { apps: Store['apps']; functions: Store['functions'] },
): void {
  router.get('/dev', async (ctx) => {
    const [registered, all] = await Promise.all([apps.all(PRODUCTION), functions.all(PRODUCTION)]);
    const live = all.functions.filter(({ archived }) => !archived);
    ctx.body = {
      version: `tidegate-${VERSION}`,
      authed: false,
      startOpts: { autodiscover: false, poll: false },
      functions: live.slice(0, FUNCTIONS_MAX).map(({ id, name, triggers, url }) => ({
        id,
        slug: id,
        name,
        triggers,
        steps: [{ id: 'step', name, uri: url }],
      })),
      handlers: registered.map(({ name, url, sdk, framework }) => ({ sdk: { appName: name, url, sdk, framework } })),
      isSingleNodeService: false,
      isMissingSigningKey: false,
      isMissingEventKeys: false,
      features: {},
    };
  });
}
