import type { AppWithFunctions } from '../../api/types.ts';
import { Card } from '../../ui/page.tsx';
import { Badge } from '../../ui/status-badge.tsx';

/** Nothing if the service supports all fields of the app. */
export function UnsupportedBadge({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Badge tone="warn" icon="warning" title="Fields of the registration that the service does not act on">
      {count === 1 ? '1 option ignored' : `${count} options ignored`}
    </Badge>
  );
}

/** Fields of the last registration that the service does not act on. */
export function UnsupportedFields({ app }: { app: AppWithFunctions }) {
  const { unsupported, unsupported_count: count } = app;
  const more = count - unsupported.length;
  return (
    <Card title="Options without effect" actions={<UnsupportedBadge count={count} />}>
      <ul className="divide-y divide-line">
        {unsupported.map(({ function: id, field, message }) => (
          <li key={`${id} ${field}`} className="px-4 py-3">
            <p className="font-mono text-sm break-all">
              {id ?? app.name}: {field}
            </p>
            <p className="text-sm break-words text-muted">{message}</p>
          </li>
        ))}
        {more > 0 && <li className="px-4 py-3 text-sm text-muted">and {more} more</li>}
      </ul>
    </Card>
  );
}
