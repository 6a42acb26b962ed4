import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { callApi } from '../../api/client.ts';
import type { Setting } from '../../api/types.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../../ui/error-alert.tsx';
import { TextField } from '../../ui/field.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Card } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';

const route = getRouteApi('/settings');
const CHANGED = 'Different from the default';

/** Settings from the environment of the process, read-only here. */
export function StartupSettings() {
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => callApi<Setting[]>('/v1/settings', { signal }),
  });
  const groups = data && groupsOf(data.data, q);
  const search = (
    <div className="w-56">
      <TextField
        label="Search settings"
        hideLabel
        type="search"
        data-page-search
        placeholder="Search"
        value={q}
        onChange={({ target }) =>
          void navigate({ search: (before) => ({ ...before, q: target.value || undefined }) as never, replace: true })
        }
      />
    </div>
  );
  return (
    <Card title="Environment settings" actions={search}>
      {error && !data && (
        <div className="p-4">
          <ErrorAlert error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!error && !data && <Loading rows={8} />}
      {groups?.length === 0 && <EmptyState title="No matching settings" />}
      {groups?.map(([title, settings]) => (
        <section key={title} aria-label={title} className="border-b border-line last-of-type:border-b-0">
          <details open={title === CHANGED || q !== ''}>
            <summary className="cursor-pointer bg-sunken px-4 py-2 text-sm font-medium">
              {title} <span className="font-normal text-muted">({settings.length})</span>
            </summary>
            <ul className="divide-y divide-line">
              {settings.map((setting) => (
                <SettingRow key={setting.name} setting={setting} />
              ))}
            </ul>
          </details>
        </section>
      ))}
      <p className="border-t border-line px-4 py-3 text-sm text-muted">
        Values come from environment variables of the web process. To change them, set the variables and restart the
        service. Secrets are hidden.
      </p>
    </Card>
  );
}

/** Settings that match, by topic: those that differ from their defaults first. */
function groupsOf(settings: readonly Setting[], search: string): [title: string, settings: Setting[]][] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = settings.filter(({ name, group, meaning }) => {
    const text = `${name} ${group} ${meaning}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const changed = matching.filter(isChanged);
  const others = Map.groupBy(
    matching.filter((setting) => !isChanged(setting)),
    ({ group }) => group,
  );
  return [...(changed.length > 0 ? [[CHANGED, changed] as [string, Setting[]]] : []), ...others];
}

/** The docs are in Markdown. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]{1,200})\]\([^)]{1,200}\)/g, '$1').replaceAll('`', '');
}

function isChanged({ is_set, secret, value, default: byDefault }: Setting): boolean {
  return is_set && (secret || value !== byDefault);
}

function SettingRow({ setting }: { setting: Setting }) {
  const { name, value, meaning, is_set, secret, default: byDefault } = setting;
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-6 gap-y-1 px-4 py-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,14rem)_5rem] sm:items-baseline">
      <div className="min-w-0 max-sm:col-span-2">
        <p className="font-mono text-sm font-medium break-words">{name}</p>
        <p className="text-sm text-muted">{plain(meaning)}</p>
      </div>
      <p className="min-w-0 font-mono text-xs break-all">
        {secret && is_set ? '••••••••' : (value ?? <span className="font-sans text-muted">not set</span>)}
        {isChanged(setting) && byDefault !== null && (
          <span className="block font-sans text-muted">default: {byDefault}</span>
        )}
      </p>
      <p className="text-right">
        {is_set && (
          <Badge tone="good" icon="check">
            set
          </Badge>
        )}
        {!is_set && value !== null && <Badge tone="neutral">default</Badge>}
      </p>
    </li>
  );
}
