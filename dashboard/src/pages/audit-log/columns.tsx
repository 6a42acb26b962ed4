import type { AuditEntry } from '../../api/types.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';

type Kind = AuditEntry['who']['kind'];

export const ACTOR_KINDS: Record<Kind, string> = {
  user: 'People',
  'api-key': 'API keys',
  setting: 'The setting API_KEY',
  dev: 'Dev mode',
};

export const ACTOR_KIND: Record<Kind, string> = {
  user: 'a person',
  'api-key': 'an API key',
  setting: 'given by the settings',
  dev: 'nobody signs in here',
};

const ICONS: Record<Kind, IconName> = { user: 'people', 'api-key': 'key', setting: 'sliders', dev: 'code' };

export function columnsFor(onOpen: (entry: AuditEntry) => void): Column<AuditEntry>[] {
  return [
    { id: 'at', header: 'When', width: '5.5rem', cell: ({ at }) => <Time at={at} /> },
    {
      id: 'who',
      header: 'Who',
      width: 'minmax(0, 1fr)',
      hideOnMobile: true,
      cell: ({ who }) => <Actor who={who} />,
    },
    {
      id: 'what',
      header: 'What',
      width: 'minmax(0, 2fr)',
      cell: (entry) => <Summary entry={entry} onOpen={() => onOpen(entry)} />,
    },
    {
      id: 'environment',
      header: 'Environment',
      width: 'minmax(0, 8rem)',
      hideOnMobile: true,
      cell: ({ environment }) => environment ?? <span className="text-muted">–</span>,
    },
    {
      id: 'ip',
      header: 'From',
      width: 'minmax(0, 9rem)',
      hideOnMobile: true,
      cell: ({ ip }) => <span className="block truncate font-mono text-xs">{ip}</span>,
    },
  ];
}

function Summary({ entry: { summary, target, action, who }, onOpen }: { entry: AuditEntry; onOpen(): void }) {
  return (
    <>
      <button type="button" onClick={onOpen} title={summary} className="block max-w-full truncate hover:underline">
        {action === 'sign-in refused' ? `Sign-in refused: ${summary}` : summary}
      </button>
      <div className="truncate text-xs text-muted md:hidden">{who.name}</div>
      {target && <div className="hidden truncate font-mono text-xs text-muted md:block">{target}</div>}
    </>
  );
}

function Actor({ who: { kind, name } }: { who: AuditEntry['who'] }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span title={ACTOR_KINDS[kind]}>
        <Icon name={ICONS[kind]} className="text-muted" />
        <span className="sr-only">{ACTOR_KINDS[kind]}:</span>
      </span>
      <span className="truncate" title={name}>
        {name}
      </span>
    </span>
  );
}
