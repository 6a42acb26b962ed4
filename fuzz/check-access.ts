/** Compares the response to a caller with roles with the rule (src/model/auth/access.ts): who has too little access gets nothing, and nobody can
 *  tell a hidden object or environment from one that does not exist. */
import { selectionOf } from '../src/api/http/environment-selection.ts';
import { parseFields } from '../src/api/http/urlencoded.ts';
import { ownerInBody } from '../src/api/rest/owners.ts';
import type { Route } from '../src/api/rest/route.ts';
import {
  type AccessLevel,
  accessAnywhere,
  accessTo,
  accessToAll,
  covers,
  type Grants,
  onlyEnvironment,
} from '../src/model/auth/access.ts';
import { BRANCH_SET, type EnvironmentRef, PRODUCTION } from '../src/model/environment.ts';
import { routes } from '../test/support/route-table.ts';
import { grantsOf, OWNERS, OWNERS_OF_KEYS } from './callers.ts';
import { bodyOf, fillNames, type HttpCase, type Names } from './case.ts';
import { markOf } from './owned-objects.ts';
import type { Response } from './socket.ts';

const ABSENT_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const ABSENT_ENVIRONMENT = 'roles-absent';
const ABSENT: EnvironmentRef = { name: ABSENT_ENVIRONMENT, kind: 'branch' };

export type AskedCase = HttpCase & Required<Pick<HttpCase, 'caller'>>;

/** What is wrong with a response. */
export interface Problem {
  text: string;
  /** It need not happen again: the request may have changed what a second one meets. */
  isCertain?: true;
}

/** What the rule says of a request. */
interface Ruling {
  has: AccessLevel;
  route: Route;
  /** The ID or name in the request of what is hidden, and one that does not exist. */
  hidden?: { id: string; absent: string } | undefined;
}

/** @param send sends another case
 *  @returns a description of the problem; undefined for a right response */
export async function checkAccess(
  one: AskedCase,
  { status = 0, body }: Response,
  names: Names,
  send: (other: HttpCase) => Promise<Response>,
): Promise<Problem | undefined> {
  const grants = grantsOf(one.caller);
  const ruling = await rulingOf(one, grants, names);
  if (!ruling) return undefined;
  const { has, route, hidden } = ruling;
  const who = `${JSON.stringify(one.caller)} on ${route.method.toUpperCase()} ${route.path}`;
  if (status === 401) return { text: `the credentials were not accepted: ${who}` };
  const isOk = status >= 200 && status < 300;
  if (isOk && !covers(has, route.access)) {
    return {
      text: `the rule gives ${has} access, needed ${route.access}, and the response was ${status}: ${who}`,
      isCertain: true,
    };
  }
  const seen =
    isOk &&
    route.scope !== 'installation' &&
    OWNERS.find((owner) => accessTo(grants, owner) === 'none' && body.includes(markOf(owner.name)));
  if (seen) return { text: `the response has what belongs to the hidden "${seen.name}": ${who}` };
  if (!hidden) return undefined;
  const other = await send(without(one, hidden, names));
  const [own, absent] = [answerOf(status, body, hidden.id), answerOf(other.status ?? 0, other.body, hidden.absent)];
  return own === absent ? undefined : { text: `what is hidden got ${own}, and what does not exist ${absent}: ${who}` };
}

async function rulingOf(one: AskedCase, grants: Grants, names: Names): Promise<Ruling | undefined> {
  const [path = '', query = ''] = fillNames(one.target, names).split(/\?(.*)/s);
  const found = routeOf(one.method, path);
  if (!found) return undefined;
  const { route, params } = found;
  const by = (has: AccessLevel, id?: string, absent = ABSENT_ID): Ruling => {
    return { has, route, hidden: has === 'none' && id !== undefined ? { id, absent } : undefined };
  };
  if (route.scope === 'installation') return by(accessTo(grants));
  if (route.scope === 'all-environments') return by(accessToAll(grants));
  if (route.scope === 'any-environment') return by(accessAnywhere(grants));
  if (route.scope === 'environment') {
    const selected = selectedBy(one, query, names);
    const environment = OWNERS.find(({ name }) => name === (selected ?? onlyEnvironment(grants) ?? PRODUCTION));
    if (!environment) return undefined;
    // Who has a role in branches may ask for one that does not exist yet.
    const isLikeAbsent = selected !== undefined && accessTo(grants, ABSENT) === 'none';
    return by(accessTo(grants, environment), isLikeAbsent ? selected : undefined, ABSENT_ENVIRONMENT);
  }
  if (route.owner === ownerInBody) {
    const owner = await ownerInBody.find({ params, query: {}, body: jsonOf(bodyOf(one, names)) });
    return owner && by(accessTo(grants, owner));
  }
  if (route.owner === 'each' || !route.owner) return by(accessAnywhere(grants));
  const { id, name } = params;
  if (name !== undefined) {
    const environment = OWNERS.find((owner) => owner.name === name);
    const isKey = route.path.includes('signing-key');
    if (!environment || (name === BRANCH_SET && !isKey)) return undefined;
    const owner = isKey && environment.kind === 'branch' ? { name: BRANCH_SET, kind: 'branch' as const } : environment;
    return by(accessTo(grants, owner), isKey ? undefined : name, ABSENT_ENVIRONMENT);
  }
  const owner = OWNERS_OF_KEYS.find((of) => id === names[`webhook-of:${of}`] || id === names[`event-key-of:${of}`]);
  return (
    owner &&
    by(
      accessTo(
        grants,
        OWNERS.find((one) => one.name === owner),
      ),
      id,
    )
  );
}

function selectedBy({ headers }: HttpCase, query: string, names: Names): string | undefined {
  const given = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), fillNames(value, names)]));
  try {
    return selectionOf(given, parseFields(query, 'the query'));
  } catch {
    return undefined;
  }
}

/** The route with the most literal segments, as in the router. */
function routeOf(method: string, path: string): { route: Route; params: Record<string, string> } | undefined {
  const segments = path.split('/');
  const matches = routes.flatMap((route) => {
    const pattern = route.path.split('/');
    if (route.method.toUpperCase() !== method || pattern.length !== segments.length) return [];
    const params: Record<string, string> = {};
    for (const [i, part] of pattern.entries()) {
      const segment = segments[i] as string;
      if (part.startsWith(':')) params[part.slice(1)] = segment;
      else if (part !== segment) return [];
    }
    return [{ route, params }];
  });
  return matches.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0];
}

function without(one: AskedCase, { id, absent }: { id: string; absent: string }, names: Names): HttpCase {
  const replaced = (text: string) => fillNames(text, names).replaceAll(id, absent);
  const headers = one.headers.map(([name, value]): [string, string] => [
    name,
    name.endsWith('-env') ? replaced(value) : value,
  ]);
  return { ...one, target: replaced(one.target), headers };
}

/** Status and body, without what differs between any two requests. */
function answerOf(status: number, body: string, id: string): string {
  return `${status} ${body.replaceAll(id, '…').replace(/"request_id":"[^"]*"/, '')}`;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
