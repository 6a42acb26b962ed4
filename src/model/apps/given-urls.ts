/** URLs that an app says are its own. SDKs take them from a request that anybody may make: not only the host, also the query and a user name
 *  (`Host: a@b`). The query of an app's URL is part of each call: with `probe=trust` the official TypeScript SDK answers it without running the
 *  function. So these count only where a person gave them. */
import { isJsonObject } from '../values/json.ts';
import type { AppFunction } from './app.ts';
import { isConnected } from './connection.ts';

/** Which function and step a call is for. */
const OF_CALL = new Set(['fnId', 'stepId']);

/** @param trusted URL of the app that a person gave, or that it had before; undefined: there is none */
export function withTrustedQuery<R extends { url: string }>(
  registration: R,
  functions: readonly AppFunction[],
  trusted: string | undefined,
): { registration: R; functions: AppFunction[] } {
  if (isConnected(registration.url)) return { registration, functions: [...functions] };
  const known = trusted === undefined || isConnected(trusted) ? '' : new URL(trusted).search;
  const isKnown = new URL(registration.url).search === known;
  const given = isKnown ? [] : namesIn(registration.url);
  const added = isKnown ? [] : [...new URLSearchParams(known)];
  const corrected = (text: string, ofCall: boolean) =>
    isConnected(text) ? text : correctedUrl(text, { given, added, ofCall });
  return {
    registration: { ...registration, url: corrected(registration.url, false) },
    functions: functions.map((fn) => withUrl(fn, corrected(fn.url, true))),
  };
}

/** @param ofCall whether the URL names function and step, after what the app's URL has */
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
    if (own !== undefined && OF_CALL.has(name)) url.searchParams.set(name, own);
    else url.searchParams.delete(name);
  }
  for (const [name, value] of added) url.searchParams.set(name, value);
  return url.href;
}

function namesIn(url: string): string[] {
  return [...new Set(new URL(url).searchParams.keys())];
}

function withUrl(fn: AppFunction, url: string): AppFunction {
  if (fn.url === url) return fn;
  const { step } = isJsonObject(fn.config.steps) ? fn.config.steps : {};
  const runtime = isJsonObject(step) && isJsonObject(step.runtime) ? { ...step.runtime, url } : { url };
  const steps = { step: { ...(isJsonObject(step) && step), runtime } };
  return { ...fn, url, config: { ...fn.config, steps } };
}
