/** Starts the apps of the official SDKs, each configured in the way of its SDK. */
import { resolve } from 'node:path';
import { buildGo } from '../support/go.ts';
import { type HostProgram, startHost } from '../support/program.ts';
import { installPython } from '../support/python.ts';
import type { Service } from '../support/service.ts';

const PYTHON = resolve(import.meta.dirname, '../python');
const GO = resolve(import.meta.dirname, '../go/official');

/** An app with an official SDK. */
export interface OfficialApp {
  title: string;
  /** Its column in docs/compatibility.md. */
  sdk: 'TypeScript 4' | 'TypeScript 3' | 'Python' | 'Go';
  /** Its id. */
  app: string;
  /** Functions and features of scenarios.ts that it does not have, and why. */
  lacks?: Record<string, string>;
  /** Installs and builds; slow the first time. */
  install(): Promise<unknown>;
  /** Does not register yet, or does so by itself: a PUT to its URL registers it in any case.
   *  @param branch environment that it selects
   *  @param url of the service, if it differs */
  start(service: Service, branch?: string, url?: string): Promise<HostProgram>;
}

const npm = (major: 3 | 4, kind: 'scenarios' | 'features' | 'streaming' | 'connect', app: string): OfficialApp => ({
  title: `npm, version ${major}`,
  sdk: `TypeScript ${major}`,
  app,
  install: async () => {},
  start(service, branch, url) {
    const name = major === 3 ? 'inngest-3' : 'inngest';
    const env = variables(service, branch, url);
    return startHost(process.execPath, ['npm-host.ts', name, kind, app], { cwd: import.meta.dirname, env });
  },
});

const python = (kind: 'async' | 'sync' | 'features', args: string[] = []): OfficialApp => {
  const install = () => installPython('python-hosts', resolve(PYTHON, 'requirements.txt'));
  return {
    title: `PyPI, functions that are ${kind}`,
    sdk: 'Python',
    app: `official-py-${kind}`,
    install,
    async start(service, branch, url) {
      const bin = await install();
      const env = { ...variables(service, branch, url), PYTHONDONTWRITEBYTECODE: '1' };
      return startHost(`${bin}/python`, ['official_app.py', kind, ...args], { cwd: PYTHON, env });
    },
  };
};

const go = (app = 'official-go', args: string[] = []): OfficialApp => {
  const install = () => buildGo('official', '.', GO);
  return {
    title: 'Go',
    sdk: 'Go',
    app,
    lacks: {
      bulky: 'the SDK (0.16.0) does not fetch what a call leaves out (use_api)',
      onFailure: 'the SDK has no failure handlers; the app has a function on inngest/function.failed',
    },
    install,
    start: async (service, branch, url) =>
      startHost(await install(), args, { cwd: GO, env: variables(service, branch, url) }),
  };
};

function connectedGo(): OfficialApp {
  const app = go('official-go', ['connect']);
  const lacks = {
    ...app.lacks,
    caught: 'over a connection the SDK (0.16.0) sends a step that has failed permanently as an error of the function',
    brokenConnection: 'the SDK (0.16.0) does not connect again after a connection that broke without a close frame',
  };
  return { ...app, lacks };
}

/** As the SDKs of Python and Go read them. In the Go SDK anything but nothing is dev mode, "0" too. */
function variables(service: Service, branch = '', url = service.url): Record<string, string> {
  const { dev, env } = service;
  if (dev) return { INNGEST_DEV: url, INNGEST_ENV: branch };
  const { EVENT_KEYS = '', SIGNING_KEY = '' } = env;
  const keys = { INNGEST_EVENT_KEY: EVENT_KEYS, INNGEST_SIGNING_KEY: SIGNING_KEY };
  return { INNGEST_DEV: '', INNGEST_BASE_URL: url, INNGEST_ENV: branch, ...keys };
}

export const IN_DEV_MODE: OfficialApp[] = [
  npm(4, 'scenarios', 'official-npm'),
  npm(3, 'scenarios', 'official-npm-3'),
  python('async'),
  python('sync'),
  go(),
];
export const IN_PRODUCTION: OfficialApp[] = [
  npm(4, 'scenarios', 'official-npm'),
  npm(3, 'scenarios', 'official-npm-3'),
  python('async'),
  go(),
];

/** Apps with the functions of features.ts. */
export const FEATURES: OfficialApp[] = [
  npm(4, 'features', 'official-npm-features'),
  npm(3, 'features', 'official-npm-3-features'),
  python('features'),
  go('official-go-features', ['features']),
];

/** The same functions, in apps that stream their responses. */
export const STREAMING: OfficialApp[] = [
  npm(4, 'streaming', 'official-npm-4-streaming'),
  npm(3, 'streaming', 'official-npm-3-streaming'),
];

/** The functions of scenarios.ts, in apps that connect. */
export const CONNECTED: OfficialApp[] = [
  npm(4, 'connect', 'official-npm-4-connect'),
  npm(3, 'connect', 'official-npm-3-connect'),
  python('async', ['connect']),
  connectedGo(),
];
