/** URLs that an app reports as its own. SDKs derive them from an incoming request, which anybody may send, so host, path, query and user name
 *  (`Host: a@b`) cannot be trusted. The query of an app's URL is part of every call: with `probe=trust` the official TypeScript SDK answers
 *  without running the function. Therefore the query counts only if a person configured it, a user name never counts,
 *  and another path counts only if the app has left the known path. */
import { isJsonObject } from '../values/json.ts';
import type { AppFunction } from './app.ts';
import { isConnected } from './connection.ts';

/** Query parameters that select the function and the step of a call. */
const CALL_PARAMETERS = new Set(['fnId', 'stepId']);

/** @param trusted the app's URL as a person configured it, or its previous URL; undefined if there is neither */
export function withTrustedQuery<R extends { url: string }>(
  registration: R,
  functions: readonly AppFunction[],
  trusted: string | undefined,
): { registration: R; functions: AppFunction[] } {
  if (isConnected(registration.url)) return { registration, functions: [...functions] };
  const known = trusted === undefined || isConnected(trusted) ? '' : new URL(trusted).search;
  const isKnown = new URL(registration.url).search === known;
  const given = isKnown ? [] : [...new Set(new URL(registration.url).searchParams.keys())];
  const added = isKnown ? [] : [...new URLSearchParams(known)];
  const corrected = (text: string, ofCall: boolean) =>
    isConnected(text) ? text : correctedUrl(text, { given, added, ofCall });
  return {
    registration: { ...registration, url: corrected(registration.url, false) },
    functions: functions.map((fn) => withUrl(fn, corrected(fn.url, true))),
  };
}

/** @returns the URL with the known path; undefined if it already has this path */
export function atKnownPath(url: string, known: string): string | undefined {
  if (isConnected(url) || isConnected(known)) return undefined;
  const there = new URL(url);
  const { pathname } = new URL(known);
  if (there.pathname === pathname) return undefined;
  there.pathname = pathname;
  return there.href;
}

/** Functions at the app's path move with it. */
export function withKnownPath<R extends { url: string }>(
  registration: R,
  functions: readonly AppFunction[],
  known: string,
): { registration: R; functions: AppFunction[] } {
  const { pathname } = new URL(registration.url);
  const corrected = (url: string) =>
    !isConnected(url) && new URL(url).pathname === pathname ? (atKnownPath(url, known) ?? url) : url;
  return {
    registration: { ...registration, url: corrected(registration.url) },
    functions: functions.map((fn) => withUrl(fn, corrected(fn.url))),
  };
}

/** @param ofCall whether the URL also has the parameters that select function and step */
function correctedUrl(
  text: string,
  { given, added, ofCall }: { given: readonly string[]; added: readonly [string, string][]; ofCall: boolean },
): string {
  const url = new URL(text);
  const isPlain = url.username === '' && url.password === '';
  if (isPlain && given.length === 0 && added.length === 0) return text;
  url.username = '';
  url.password = '';
  for (const name of given) {
    const own = ofCall ? url.searchParams.getAll(name).at(-1) : undefined;
    if (own !== undefined && CALL_PARAMETERS.has(name)) url.searchParams.set(name, own);
    else url.searchParams.delete(name);
  }
  for (const [name, value] of added) url.searchParams.set(name, value);
  return url.href;
}

function withUrl(fn: AppFunction, url: string): AppFunction {
  if (fn.url === url) return fn;
  const { step } = isJsonObject(fn.config.steps) ? fn.config.steps : {};
  const runtime = isJsonObject(step) && isJsonObject(step.runtime) ? { ...step.runtime, url } : { url };
  const steps = { step: { ...(isJsonObject(step) && step), runtime } };
  return { ...fn, url, config: { ...fn.config, steps } };
}
