/** Starts the apps in three languages, each in its own process. */
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../scripts/lib/ports.ts';
import { buildGo } from '../../test/support/go.ts';
import { type HostProgram, startHost } from '../../test/support/program.ts';
import { installPython } from '../../test/support/python.ts';
import type { Expectations } from '../history/properties/completion.ts';
import { SECRETS, type Service, type ServiceMode } from '../service.ts';
import { AppProcess } from './app-process.ts';
import { HOSTILE_FUNCTION } from './hostile.ts';
import {
  BATCHED,
  CANCELLED,
  DEBOUNCED,
  functionIdOf,
  HELD,
  LONG_SLEEP,
  LONG_WAIT,
  ORDERED,
  PAUSING,
  RATE_LIMITED,
  RETRIES,
  SINGLETON,
  SLEEPER_FUNCTION,
} from './limits.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const HERE = import.meta.dirname;
const REGISTER_AGAIN_MS = 200;
const REGISTERED_WITHIN_MS = 20_000;

const OF_SMALL_APPS = {
  'chaos/steps': ['steps', 'connected-steps'],
  'chaos/flaky': ['flaky'],
  'chaos/chain': ['chain', 'connected-chain'],
};
/** The functions of each program by event name. Those that begin with `connected-` are of its app that connects, `<app>-connected`. */
const FUNCTIONS: Record<string, Record<string, readonly string[]>> = {
  typescript: {
    'chaos/plain': ['plain'],
    'chaos/hook': ['hook'],
    'chaos/steps': ['steps', 'connected-steps'],
    'chaos/flaky': ['flaky'],
    'chaos/chain': ['chain', 'buffered', 'connected-chain'],
    'chaos/wait': ['wait'],
    [LONG_WAIT]: ['long-wait'],
    'chaos/parent': ['parent'],
    'chaos/bulk': ['bulk'],
    'chaos/sleeper': ['sleeper'],
    'chaos/limited': ['limited'],
    'chaos/keyed': ['keyed'],
    'chaos/held': ['held'],
    'chaos/throttled': ['throttled'],
    'chaos/rate-limited': ['rate-limited'],
    'chaos/singleton': ['singleton'],
    [ORDERED.name]: [ORDERED.id],
    'chaos/debounced': ['debounced'],
    'chaos/batched': ['batched'],
    'chaos/replayed': ['replayed'],
    [CANCELLED.name]: [CANCELLED.id],
    [LONG_SLEEP.name]: [LONG_SLEEP.id],
    [PAUSING.name]: [PAUSING.id],
  },
  python: OF_SMALL_APPS,
  go: OF_SMALL_APPS,
};

/** The name of the events that each destination gets, or makes of requests. */
const DESTINATIONS = { plain: 'chaos/plain', hook: 'chaos/hook' };

/** One gets events, the other the original requests of a webhook. */
export async function createDestinations(service: Service, executionsUrl: string, webhook: string): Promise<void> {
  const create = (name: keyof typeof DESTINATIONS, fields: object) =>
    service.post('/v1/destinations', {
      name,
      url: `${executionsUrl}destinations/${name}`,
      retries: RETRIES,
      ...fields,
    });
  await create('plain', { events: [DESTINATIONS.plain], body: 'data' });
  await create('hook', { webhook, body: 'request' });
}

/** Why flow control may start no run of its own for an event. */
const SKIPS: Record<string, readonly string[]> = {
  [HELD.id]: ['paused'],
  [RATE_LIMITED.id]: ['rate_limited'],
  [SINGLETON.id]: ['singleton'],
  [ORDERED.id]: ['superseded'],
  [DEBOUNCED.id]: ['debounced'],
  [BATCHED.id]: ['batched'],
};

/** What events and runs must lead to.
 *  @param languages the apps that run */
export function expectationsOf(languages: readonly string[]): Expectations {
  return {
    functionsOf(name) {
      if (name === 'chaos/hostile') return [{ functionId: HOSTILE_FUNCTION, skips: [] }];
      const destinations = Object.entries(DESTINATIONS).flatMap(([id, event]) =>
        event === name ? [{ functionId: `destination:${id}`, skips: [] }] : [],
      );
      const functions = languages.flatMap((language) =>
        (FUNCTIONS[language]?.[name] ?? []).map((id) => ({
          ...{ functionId: `chaos-${language}-${id}`, skips: language === 'typescript' ? (SKIPS[id] ?? []) : [] },
        })),
      );
      return [...functions, ...destinations];
    },
    // Some responses of the hostile app fail a run permanently, and others are cancelled, as intended.
    mayEnd: (functionId, status) =>
      functionId === HOSTILE_FUNCTION ||
      (status === 'Cancelled' && [SLEEPER_FUNCTION, functionIdOf(CANCELLED.id)].includes(functionId)),
  };
}

/** @throws Error for an unknown language, or one that is not installed */
export async function startApp(
  language: string,
  service: Service,
  executionsUrl: string,
  serviceMode: ServiceMode,
): Promise<AppProcess> {
  const port = String(await freePort());
  const env = {
    PORT: port,
    SERVICE_SERVE_ORIGIN: `http://127.0.0.1:${port}`,
    SERVICE_BASE_URL: service.balancedUrl,
    ...(serviceMode === 'dev' && { SERVICE_DEV: '1' }),
    SERVICE_SIGNING_KEY: SECRETS.SIGNING_KEY,
    SERVICE_EVENT_KEY: SECRETS.EVENT_KEYS,
    EXECUTIONS_URL: executionsUrl,
  };
  const app = await AppProcess.start(language, () => start(language, env));
  const deadline = Date.now() + REGISTERED_WITHIN_MS;
  for (;;) {
    const response = await fetch(app.url, { method: 'PUT' });
    if (response.ok) return app;
    if (Date.now() > deadline) {
      await app.stop();
      throw new Error(`The ${language} app could not register: ${await response.text()}`);
    }
    await setTimeout(REGISTER_AGAIN_MS);
  }
}

async function start(language: string, env: Record<string, string>): Promise<HostProgram> {
  switch (language) {
    case 'typescript':
      return startHost(process.execPath, [resolve(HERE, 'app.ts')], { cwd: ROOT, env });
    case 'python': {
      const bin = await installPython('example-python', resolve(ROOT, 'examples/python/requirements.txt'));
      const path = { PYTHONPATH: resolve(ROOT, 'clients/python/src') };
      return startHost(resolve(bin, 'python'), [resolve(HERE, 'app.py')], { cwd: ROOT, env: { ...env, ...path } });
    }
    case 'go':
      return startHost(await buildGo('chaos', '.', resolve(HERE, 'go')), [], { cwd: ROOT, env });
    default:
      throw new Error(`--languages: got "${language}"; expected typescript, python or go`);
  }
}
