import type { Deploy, SyncOrigin } from '../../api/types.ts';

const FIELD_NAMES = { url: 'URL', sdk: 'SDK', framework: 'framework', deploy_id: 'build' } as const;

/** What a deploy changed, in a few words. */
export function deployText({ first, changes, functions, sdk, framework, deploy_id }: Deploy): string {
  const now = { sdk, framework, deploy_id };
  const facts = changes.map(({ field }) =>
    field === 'url' ? 'new URL' : `${FIELD_NAMES[field]} ${now[field] ?? 'no longer told'}`,
  );
  const { added, removed, changed, omitted } = functions;
  const counts = [
    [added.length, 'added'],
    [removed.length, 'removed'],
    [changed.length, 'changed'],
    [omitted, 'more changed'],
  ] as const;
  const listed = counts.filter(([count]) => count > 0);
  const texts = listed.map(
    ([count, what], i) => `${count}${i === 0 ? (count === 1 ? ' function' : ' functions') : ''} ${what}`,
  );
  return [...(first ? ['first registration'] : []), ...facts, ...texts].join(', ');
}

/** For the mark in a chart. */
export function deployLabel(deploy: Deploy): string {
  return `Deploy ${clock.format(new Date(deploy.at))}: ${deployText(deploy)}`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** By what a registration came. */
export function originText({ kind, name }: SyncOrigin): string {
  if (kind === 'request') return name === null ? 'on request' : `requested by ${name}`;
  return { app: 'by the app', connection: 'over a connection of the app', discovery: 'found by dev mode' }[kind];
}
