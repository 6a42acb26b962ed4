/** Finds apps on this machine in dev mode. */
import { Discovery } from '../api/apps/discovery.ts';
import { localAddress } from '../api/apps/mode-hints.ts';
import type { Registrar } from '../api/apps/registrar.ts';
import { AppSync } from '../api/apps/sync.ts';
import type { HttpAgent } from '../functions/http-agent.ts';
import type { Backpressure } from '../jobs/queues/backpressure.ts';
import type { Store } from '../store/store.ts';
import type { Core } from './core.ts';

/** @returns undefined: nothing looks for apps */
export function createDiscovery(
  { config, log }: Core,
  store: Store,
  parts: { registrar: Registrar; backpressure: Backpressure; httpAgent: HttpAgent },
): Discovery | undefined {
  if (config.discoveryPorts === undefined) return undefined;
  const address = localAddress(config);
  return new Discovery({
    ports: config.discoveryPorts,
    address,
    apps: store.apps,
    appSync: new AppSync({ ...store, ...parts, dev: config.dev, address }),
    registrar: parts.registrar,
    agent: parts.httpAgent.for('production'),
    log,
  });
}
