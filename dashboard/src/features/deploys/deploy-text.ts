import type { Deploy, SyncOrigin } from '../../api/types.ts';

const FIELD_NAMES = { url: 'URL', sdk: 'SDK', framework: 'framework', deploy_id: 'build' } as const;

/** The changes of a deploy, in a few words. */
export function deployText({ first, changes, functions, sdk, framework, deploy_id }: Deploy): string {
  const now = { sdk, framework, deploy_id };
  const facts = changes.map(({ field }) =>
    field === 'url' ? 'new URL' : `${FIELD_NAMES[field]} ${now[field] ?? 'no longer told'}`,
  );
  const { added, removed, changed, omitted } = functions;
  const counts = [
    [countText(added), 'added'],
    [countText(removed), 'removed'],
    [countText(changed.map(({ id }) => id)), 'changed'],
    [omitted > 0 ? `${omitted} more` : undefined, 'changed'],
  ] as const;
  const listed = counts.filter(([count]) => count !== undefined);
  // "2 functions added, 1 changed"
  const texts = listed.map(([count = '', what], i) => `${i === 0 ? count : count.replace(/ functions?$/, '')} ${what}`);
  return [...(first ? ['first registration'] : []), ...facts, ...texts].join(', ');
}

/** SDKs register the failure handler of a function as a separate function. */
const HANDLER = '-failure';

/** Functions as people write them: "5 functions and 1 failure handler"; undefined: none. */
function countText(ids: readonly string[]): string | undefined {
  const known = new Set(ids);
  const handlers = ids.filter((id) => id.endsWith(HANDLER) && known.has(id.slice(0, -HANDLER.length))).length;
  const functions = ids.length - handlers;
  if (functions === 0) return undefined;
  const text = functions === 1 ? '1 function' : `${functions} functions`;
  if (handlers === 0) return text;
  return `${text} and ${handlers === 1 ? '1 failure handler' : `${handlers} failure handlers`}`;
}

/** For the mark in a chart. */
export function deployLabel(deploy: Deploy): string {
  return `Deploy ${clock.format(new Date(deploy.at))}: ${deployText(deploy)}`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** The cause of a registration, as text. */
export function originText({ kind, name }: SyncOrigin): string {
  if (kind === 'request') return name === null ? 'on request' : `requested by ${name}`;
  if (kind === 'activation') return name === null ? 'activated' : `activated by ${name}`;
  return { app: 'by the app', connection: 'over a connection of the app', discovery: 'found by dev mode' }[kind];
}
