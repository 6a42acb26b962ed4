/** Versions of apps: what an app registers with a new build name. A run of a pinned function ends on the version on which it began; every
 *  other run continues with the active one (docs/change-code-safely.md). */
import { hash } from 'node:crypto';
import type { AppFunction, Dialect, Ramp } from './app.ts';
import { type AppFacts, contentOf } from './deploy.ts';

export const VERSIONINGS = ['latest', 'pinned'] as const;
export type Versioning = (typeof VERSIONINGS)[number];

/** Effect of the first registration of a version. `automatic`: the version becomes active. `manual`: it waits until a person activates it. */
export const ACTIVATIONS = ['automatic', 'manual'] as const;
export type ActivationMode = (typeof ACTIVATIONS)[number];

/** A version of an app on which a run ends. */
export interface Pin {
  app: string;
  version: string;
}

/** The pin as text, for the field `version` of a run and the key of a version's index: without `:`, `{` and `}`. */
export function pinText({ app, version }: Pin): string {
  return `${encodeURIComponent(app.toWellFormed())}/${encodeURIComponent(version.toWellFormed())}`;
}

export function readPin(text: string): Pin {
  const [app = '', version = ''] = text.split('/').map(decodeURIComponent);
  return { app, version };
}

export interface AppVersion extends AppFacts {
  version: string;
  dialect: Dialect;
  /** The first registration of this version, Unix milliseconds. */
  registeredAt: number;
  /** The last one. */
  seenAt: number;
  /** The time at which it last became the active one; absent: it never was. */
  activeAt?: number;
  /** An earlier version was at the same URL when it first registered. */
  sharesUrl?: true;
  functions: AppFunction[];
}

/** When a ramp aborts itself. */
export interface AbortBound {
  /** The ramp aborts when more of the ended runs than this share (0 to 1) have failed. */
  failureRate: number;
  /** The ramp does not abort before this many runs have ended. */
  minRuns: number;
}

/** A ramp as a person set it. */
export interface GivenRamp extends Ramp {
  abortWhen?: AbortBound;
}

/** How runs ended on a version since its ramp was set last. Cancelled runs do not count; runs that paused instead of failing count as failed. */
export interface RampEnds {
  ended: number;
  failed: number;
}

export interface AbortedRamp extends GivenRamp, RampEnds {
  /** Unix milliseconds. */
  at: number;
}

export function isExceeded({ failureRate, minRuns }: AbortBound, { ended, failed }: RampEnds): boolean {
  return ended >= minRuns && failed > failureRate * ended;
}

/** Decisions of people about the versions of an app. */
export interface VersionChoices {
  /** The versioning of functions that do not set one. */
  versioning?: Versioning;
  /** Absent: automatic. */
  activation?: ActivationMode;
  /** The version that a person made active. No registration changes that, until the app registers a version that was never active. */
  chosen?: string;
  /** The ramp, until the app registers a version that was never active, or another version is made active. */
  ramp?: GivenRamp;
  /** The ramp that aborted itself, until the next ramp, or until another version becomes active. */
  aborted?: AbortedRamp;
}

/** `active`: new runs start on it. `ramping`: a share of them does. `draining`: only runs pinned to it call it. `waiting`: nothing calls it
 *  until it is activated. `drained`: nothing calls it. */
export const VERSION_STATES = ['active', 'ramping', 'draining', 'waiting', 'drained'] as const;
export type VersionState = (typeof VERSION_STATES)[number];

/** The versions that new runs start on. */
export interface StartedVersions {
  active: string | undefined;
  ramp?: Ramp | undefined;
}

export function stateOf(
  { version, activeAt }: Pick<AppVersion, 'version' | 'activeAt'>,
  { active, ramp }: StartedVersions,
  activeRuns: number,
): VersionState {
  if (version === active) return 'active';
  if (version === ramp?.version) return 'ramping';
  if (activeRuns > 0) return 'draining';
  return activeAt === undefined ? 'waiting' : 'drained';
}

/** The share of new runs of pinned functions that starts on a version, in percent. */
export function percentOf(version: string, { active, ramp }: StartedVersions): number {
  if (version === ramp?.version) return ramp.percent;
  return version === active ? 100 - (ramp?.percent ?? 0) : 0;
}

/** The version on which a new run of the function ends; undefined: its runs are not pinned. A run that is created twice gets the same
 *  version, and a run that is on the ramped version at 5 % would also be on it at 20 %. */
export function versionOfRun({ version, ramp }: Pick<AppFunction, 'version' | 'ramp'>, runId: string) {
  if (version === undefined || !ramp) return version;
  // The digits of the ID are not evenly spread: its time comes first.
  const share = hash('sha256', runId, 'buffer').readUInt32BE() % 100;
  return share < ramp.percent ? ramp.version : version;
}

/** The version on which the other runs start while a version ramps up: the active one or, if that one ramps itself, the one before it. */
export function formerOf(
  versions: readonly AppVersion[],
  version: string,
  { active, ramp }: StartedVersions,
): AppVersion | undefined {
  if (version !== active) return versions.find((other) => other.version === active);
  const others = versions.filter((other) => other.version !== version && other.activeAt !== undefined);
  const latest = others.sort((a, b) => (b.activeAt ?? 0) - (a.activeAt ?? 0))[0];
  return others.find((other) => other.version === ramp?.version) ?? latest;
}

const UNNAMED =
  'its runs are not pinned: the app does not name its build (appVersion), so that its versions cannot be told apart';

const SHARED =
  'its runs get the code that is at the URL: versions of the app have the same one. Give each its own, or route by the header app-version';

function versioningOf({ config, endpoint }: AppFunction, setting: Versioning | undefined): Versioning {
  if (endpoint) return 'latest';
  const { versioning } = config;
  return versioning === 'pinned' || versioning === 'latest' ? versioning : (setting ?? 'latest');
}

/** The functions of the active version as they are stored while another version ramps up. Functions that the other version lacks, or does
 *  not pin, have no ramp.
 *  @param ramped undefined: no version ramps up */
export function withRamp(
  functions: readonly AppFunction[],
  ramped: (Ramp & { functions: readonly AppFunction[] }) | undefined,
  setting: Versioning | undefined,
): AppFunction[] {
  const pinnedThere = new Set<string>();
  for (const fn of ramped?.functions ?? []) if (versioningOf(fn, setting) === 'pinned') pinnedThere.add(fn.id);
  return functions.map((fn) => {
    if (!ramped || fn.version === undefined || !pinnedThere.has(fn.id)) return fn;
    return { ...fn, ramp: { version: ramped.version, percent: ramped.percent } };
  });
}

/** The functions as they are stored for this version of their app, without a ramp. Repeating it changes nothing.
 *  @param version undefined: the app does not name its build */
export function asVersion(
  functions: readonly AppFunction[],
  version: string | undefined,
  { setting, sharesUrl }: { setting: Versioning | undefined; sharesUrl: boolean },
): AppFunction[] {
  return functions.map(({ version: _, ramp: __, problems: given = [], ...fn }) => {
    const isPinned = versioningOf(fn, setting) === 'pinned';
    const problems = given.filter((problem) => problem !== UNNAMED && problem !== SHARED);
    if (isPinned && version === undefined) problems.push(UNNAMED);
    else if (isPinned && sharesUrl) problems.push(SHARED);
    return {
      ...fn,
      ...(problems.length > 0 && { problems }),
      ...(isPinned && version !== undefined && { version }),
    };
  });
}

/** Whether a registration makes its version the active one. An app that pins runs keeps processes of earlier versions,
 *  which register again whenever they restart.
 *  @param wasActive the version has been the active one */
export function becomesActive(
  { version, wasActive, isPinned }: { version: string; wasActive: boolean; isPinned: boolean },
  active: string | undefined,
  { chosen, activation }: VersionChoices,
): boolean {
  if (active === undefined || version === active) return true;
  if (activation === 'manual') return false;
  if (!wasActive) return true;
  return !isPinned && chosen !== active;
}

/** Whether a registration that does not name its build is that of this version. */
export function isRegistrationOf(version: AppVersion, facts: AppFacts, functions: readonly AppFunction[]): boolean {
  const named = { ...facts, deployId: version.version };
  return contentOf(named, functions) === contentOf({ ...version, deployId: version.version }, version.functions);
}

/** Number of versions of an app that are kept although no run needs them, latest registration first. */
const DRAINED_MAX = 10;
/** Maximum number of versions that wait for their activation. */
const WAITING_MAX = 10;
/** Maximum number of versions with pinned runs. */
const DRAINING_MAX = 100;

/** The versions that are no longer kept.
 *  @param activeRuns by version */
export function surplusOf(
  versions: readonly AppVersion[],
  started: StartedVersions,
  activeRuns: ReadonlyMap<string, number>,
): string[] {
  const latest = versions.toSorted((a, b) => b.seenAt - a.seenAt);
  const of = (state: VersionState) =>
    latest.filter((other) => stateOf(other, started, activeRuns.get(other.version) ?? 0) === state);
  const surplus = [
    ...of('drained').slice(DRAINED_MAX),
    ...of('waiting').slice(WAITING_MAX),
    ...of('draining').slice(DRAINING_MAX),
  ];
  return surplus.map(({ version }) => version);
}
