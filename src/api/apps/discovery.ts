/** Dev mode: finds apps on this machine, registers them, and registers them again when they restart or change. Few ports and paths are
 *  probed at intervals; a program that is not an app gets a handful of requests twice a minute. */
import type { Dispatcher } from 'undici';
import { duty } from '../../duties/duty.ts';
import { introspectLocal, type LocalApp, listeningHost, localKey, PATHS } from '../../functions/local-apps.ts';
import type { Logger } from '../../log.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Apps } from '../../store/apps/apps.ts';
import { startInDevMode } from './mode-hints.ts';
import type { Registrar } from './registrar.ts';
import type { AppSync } from './sync.ts';

/** A port without an app is probed again after this many rounds, because a framework may compile its routes late. */
const ROUNDS_OF_OTHERS = 10;
/** An app is registered again after this time, because its introspection does not show all changes. */
const REPEAT_MS = 20_000;
/** Maximum number of probed apps. */
const APPS_MAX = 50;

/** An app that was found. */
interface Known {
  url: string;
  /** undefined if it did not respond last time. */
  hash: string | undefined;
  askedAt: number;
  wasRegistered: boolean;
  /** Name of the registered app; undefined if none has registered through this process. */
  app?: string;
  /** The last problem that was logged. */
  problem?: string;
}

export const appDiscovery = duty<{ discovery: Discovery | undefined; port: number }>({
  name: 'app-discovery',
  about: 'Dev mode: looks for apps on this machine',
  scope: 'process',
  everyMs: 3_000,
  isWanted: ({ discovery }) => discovery !== undefined,
  rounds:
    ({ discovery, port }) =>
    ({ signal }) =>
      (discovery as Discovery).round(port, signal),
});

export class Discovery extends Composed<{
  ports: readonly number[];
  /** The service's address. */
  address: string;
  apps: Apps;
  appSync: Pick<AppSync, 'register'>;
  registrar: Pick<Registrar, 'repeated'>;
  agent: Dispatcher;
  log: Logger;
}> {
  /** Key: port and path. */
  readonly #known = new Map<string, Known>();
  readonly #listening = new Set<number>();
  #rounds = 0;
  /** Signal of the round in progress. */
  #signal: AbortSignal = new AbortController().signal;

  /** @param ownPort port of this service */
  async round(ownPort: number, signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const before = await this.#registered();
    for (const port of this.deps.ports) if (port !== ownPort) await this.#lookAt(port, [...before.urls.keys()]);
    const { urls: registered, names } = await this.#registered();
    // Apps registered meanwhile may be the same app on another path.
    for (const key of registered.keys()) if (!before.urls.has(key)) this.#forgetFoundOn(portOf(key));
    this.#rounds++;
    const targets = new Map([...this.#known].map(([key, { url }]) => [key, url]));
    for (const [key, url] of registered) targets.set(key, url);
    for (const [key, url] of [...targets].slice(0, APPS_MAX)) {
      if (this.#signal.aborted) return;
      await this.#follow(key, url, registered.has(key), names);
    }
  }

  /** Local apps by port and path, and the names of all. */
  async #registered(): Promise<{ urls: Map<string, string>; names: Set<string> }> {
    const urls = new Map<string, string>();
    const names = new Set<string>();
    for (const { name, url } of await this.deps.apps.all(PRODUCTION)) {
      names.add(name);
      const key = localKey(url);
      if (key !== undefined) urls.set(key, url);
    }
    return { urls, names };
  }

  #forgetFoundOn(port: string): void {
    for (const [key, { wasRegistered }] of this.#known) {
      if (!wasRegistered && portOf(key) === port) this.#known.delete(key);
    }
  }

  /** Probes each path of a port that just opened, and again at intervals. */
  async #lookAt(port: number, registered: readonly string[]): Promise<void> {
    const host = await listeningHost(port);
    if (host === undefined) {
      this.#listening.delete(port);
      return;
    }
    if (this.#listening.has(port) && this.#rounds % ROUNDS_OF_OTHERS > 0) return;
    this.#listening.add(port);
    const hashes = new Set<string>();
    const present = registered.filter((key) => key.startsWith(`${port}/`));
    for (const key of new Set([...present, ...PATHS.map((path) => `${port}${path}`)])) {
      const url = `http://${host}:${key}`;
      const hash = this.#known.get(key)?.hash ?? (await this.#introspect(url))?.hash;
      // Some programs answer on every path with the same app.
      if (hash === undefined || hashes.has(hash)) continue;
      hashes.add(hash);
      if (this.#known.has(key) || this.#known.size >= APPS_MAX) continue;
      this.#known.set(key, { url, hash: undefined, askedAt: 0, wasRegistered: false });
    }
  }

  async #follow(key: string, url: string, isRegistered: boolean, names: ReadonlySet<string>): Promise<void> {
    const known = this.#known.get(key) ?? { url, hash: undefined, askedAt: 0, wasRegistered: false };
    const before = known.hash;
    const app = await this.#introspect(url);
    known.hash = app?.hash;
    if (!app) {
      // A deleted app is not registered again until it restarts.
      if (isRegistered) known.wasRegistered = true;
      else this.#known.delete(key);
      return;
    }
    this.#known.set(key, known);
    const isGone = known.app === undefined ? known.wasRegistered && !isRegistered : !names.has(known.app);
    const isDeleted = isGone && before !== undefined;
    if (isRegistered) known.wasRegistered = true;
    const isDue = before !== app.hash || Date.now() - known.askedAt >= REPEAT_MS;
    if (isDue && !isDeleted) await this.#register(key, known, app, isRegistered);
  }

  async #register(key: string, known: Known, app: LocalApp, isRegistered: boolean): Promise<void> {
    const { address, appSync, registrar, log } = this.deps;
    const { url } = known;
    known.askedAt = Date.now();
    if (app.mode === 'cloud') {
      this.#logProblem(known, `it is in production mode: ${startInDevMode(address, app.dialect)}`);
      return;
    }
    if (isRegistered) registrar.repeated.add(key);
    try {
      const { app } = await appSync.register(PRODUCTION, url, { kind: 'discovery' });
      known.app = app;
      if (!known.wasRegistered) log.info({ url }, 'found an app on this machine, and registered it');
      known.wasRegistered = true;
      delete known.problem;
    } catch (error) {
      this.#logProblem(known, (error as Error).message);
    } finally {
      registrar.repeated.delete(key);
    }
  }

  /** Logs each problem once. */
  #logProblem(known: Known, problem: string): void {
    if (known.problem === problem) return;
    known.problem = problem;
    this.deps.log.warn({ url: known.url, problem }, 'found an app on this machine that does not register');
  }

  #introspect(url: string): Promise<LocalApp | undefined> {
    return introspectLocal(url, this.deps.agent, this.#signal);
  }
}

/** @param key port and path */
function portOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}
