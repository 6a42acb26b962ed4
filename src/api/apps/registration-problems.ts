/** Reports problems of a registration to its app. */
import { ServiceError } from '../../errors.ts';
import type { AppFunction, RefusedFunction } from '../../model/apps/app.ts';
import { functionProblems } from '../../model/apps/function-problems.ts';
import { describeUnsupported, type Unsupported } from '../../model/apps/unsupported-fields.ts';
import { shellWord } from '../../model/values/shell-word.ts';

/** Maximum number of functions in a text. */
const SHOWN_MAX = 20;

/** A registered function, and the parts of its configuration that have no effect; empty: it works. */
export interface FunctionProblems {
  id: string;
  problems: string[];
}

/** Registered functions that do not work as configured, in the order of the registration. */
export function problemsOf(registered: readonly AppFunction[]): FunctionProblems[] {
  return registered.map(withProblems).filter(({ problems }) => problems.length > 0);
}

/** All registered functions, sorted by ID. */
export function functionsOf(registered: readonly AppFunction[]): FunctionProblems[] {
  return registered.map(withProblems).sort((a, b) => (a.id < b.id ? -1 : 1));
}

function withProblems(fn: AppFunction): FunctionProblems {
  return { id: fn.id, problems: functionProblems(fn) };
}

/** Text that official SDKs show from a response. Without it they report that everything is registered, whatever the problems are. */
export function shownBySdk(
  functions: readonly FunctionProblems[],
  declinedUrl: string | undefined,
): { error: string } | undefined {
  const warnings = [
    ...(functions.length > 0 ? [`not everything works as configured. ${warningOf(functions)}`] : []),
    ...(declinedUrl === undefined ? [] : [declined(declinedUrl)]),
  ];
  return warnings.length === 0 ? undefined : { error: `Registered, but ${warnings.join('. And ')}` };
}

/** The message omits the known path, because anybody may read it. */
function declined(url: string): string {
  return `the app stays at the path where it was, because it still answers there. If it has moved: "tidegate apps sync ${shellWord(url)}"`;
}

function warningOf(functions: readonly FunctionProblems[]): string {
  const shown = functions.slice(0, SHOWN_MAX).map(({ id, problems }) => `${nameOf(id)}: ${problems.join('; ')}`);
  const more = functions.length > SHOWN_MAX ? `. ${functions.length - SHOWN_MAX} more functions have problems` : '';
  return `Function ${shown.join('. Function ')}${more}`;
}

function nameOf(id: string | null): string {
  return id === null ? 'without an ID' : `"${id}"`;
}

/** Describes the rejected functions; the others are registered. undefined if no function was rejected. */
export function refusalOf(registered: number, refused: readonly RefusedFunction[]): ServiceError | undefined {
  const [first, ...others] = refused;
  if (!first) return undefined;
  const rest =
    others.length === 0
      ? ''
      : `; ${others.length} more refused: ${others
          .slice(0, 20)
          .map(({ id }) => nameOf(id))
          .join(', ')}`;
  const state = `the other functions are registered (${registered}); refused ones stay as they were registered before`;
  return new ServiceError('registration_invalid', {
    detail: `function ${nameOf(first.id)}: ${first.problem}${rest}. Correct them and register again; ${state}`,
    facts: { registered, functions: refused },
  });
}

/** Response to an app if UNSUPPORTED is `reject`. */
export function unsupportedRefusal(unsupported: Unsupported): ServiceError {
  return new ServiceError('registration_invalid', {
    detail:
      `this service does not act on ${describeUnsupported(unsupported)}. Nothing is registered, because UNSUPPORTED is reject: ` +
      'remove what does not act, or set UNSUPPORTED=report for the service',
    facts: { unsupported: unsupported.fields, unsupported_count: unsupported.count },
  });
}
