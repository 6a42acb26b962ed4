import type { AuditEntry } from '../../api/types.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';

type Kind = AuditEntry['who']['kind'];

export const ACTOR_KINDS: Record<Kind, string> = {
  user: 'Users',
  'api-key': 'API keys',
  'signing-key': 'Apps',
  setting: 'API_KEY setting',
  dev: 'Dev mode',
};

export const ACTOR_KIND: Record<Kind, string> = {
  user: 'user',
  'api-key': 'API key',
  'signing-key': 'app, by its signing key',
  setting: 'API_KEY setting',
  dev: 'dev mode, no sign-in',
};

const ICONS: Record<Kind, IconName> = {
  user: 'users',
  'api-key': 'key',
  'signing-key': 'key',
  setting: 'sliders',
  dev: 'code',
};

export function columnsFor(onOpen: (entry: AuditEntry) => void): Column<AuditEntry>[] {
  return [
    { id: 'at', header: 'Time', width: '5.5rem', cell: ({ at }) => <Time at={at} /> },
    {
      id: 'who',
      header: 'Actor',
      width: 'minmax(0, 1fr)',
      hideOnMobile: true,
      cell: ({ who }) => <Actor who={who} />,
    },
    {
      id: 'what',
      header: 'Change',
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
      header: 'IP address',
      width: 'minmax(0, 9rem)',
      hideOnMobile: true,
      cell: ({ ip }) => <span className="block truncate font-mono text-xs">{ip}</span>,
    },
  ];
}

function Summary({
  entry: { summary, target, target_name, action, who },
  onOpen,
}: {
  entry: AuditEntry;
  onOpen(): void;
}) {
  return (
    <>
      <button type="button" onClick={onOpen} title={summary} className="block max-w-full truncate hover:underline">
        {action === 'sign-in refused' ? `Sign-in rejected: ${summary}` : summary}
      </button>
      <div className="truncate text-xs text-muted md:hidden">{who.name}</div>
      {target && (
        <div className="hidden truncate text-xs text-muted md:block">
          {target_name && `${target_name} · `}
          <span className="font-mono">{target}</span>
        </div>
      )}
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
