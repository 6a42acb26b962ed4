import { useMemo, useState } from 'react';
import { useHasAccess } from '../../api/current-user.ts';
import type { AlertRule } from '../../api/types.ts';
import { useList } from '../../api/use-list.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { ListTable } from '../../ui/list-table.tsx';
import { Badge } from '../../ui/status-badge.tsx';
import { duration } from '../../ui/time.tsx';
import { RuleForm } from './rule-form.tsx';

export function Rules() {
  const [changing, setChanging] = useState<AlertRule>();
  const rules = useList<AlertRule>(['alert-rules'], '/v1/alert-rules');
  const columns = useMemo(() => columnsOf(setChanging), []);
  return (
    <>
      <ListTable list={rules} label="Rules" columns={columns} rowKey={({ rule }) => rule} rowHeight={76} />
      {changing && <RuleForm rule={changing} onClose={() => setChanging(undefined)} />}
    </>
  );
}

function columnsOf(change: (rule: AlertRule) => void): Column<AlertRule>[] {
  return [
    {
      id: 'rule',
      header: 'Rule',
      width: 'minmax(0, 1fr)',
      cell: ({ title, measures, changed }) => (
        <div className="min-w-0">
          <div className="flex items-center gap-2">
            <span className="truncate font-medium">{title}</span>
            {changed.length > 0 && <Badge tone="neutral">changed</Badge>}
          </div>
          <p className="line-clamp-2 text-xs text-muted" title={measures}>
            {measures}
          </p>
        </div>
      ),
    },
    { id: 'when', header: 'Opens', width: '11rem', hideOnMobile: true, cell: (rule) => <When of={rule} /> },
    {
      id: 'channels',
      header: 'Channels',
      width: '9rem',
      hideOnMobile: true,
      cell: ({ channels }) => <span className="truncate">{channels?.join(', ') ?? 'all'}</span>,
    },
    {
      id: 'actions',
      header: '',
      width: '6.5rem',
      align: 'right',
      cell: (rule) => <ChangeButton title={`Change the rule ${rule.title}`} onClick={() => change(rule)} />,
    },
  ];
}

function ChangeButton({ title, onClick }: { title: string; onClick(): void }) {
  const canWrite = useHasAccess('write');
  return (
    <Button disabled={!canWrite} onClick={onClick} title={title}>
      Change
    </Button>
  );
}

function When({ of: { on, threshold, unit, window, window_seconds } }: { of: AlertRule }) {
  if (!on) return <Badge tone="neutral">off</Badge>;
  const value = thresholdOf(threshold, unit);
  const windowMs = window_seconds * 1_000;
  return <span className="truncate">{windowMs === 0 ? value : `${value} ${window} ${duration(windowMs)}`}</span>;
}

function thresholdOf(threshold: number, unit: AlertRule['unit']): string {
  if (unit === 'percent') return `${threshold} %`;
  if (unit === 'seconds') return threshold === 0 ? 'at once' : duration(threshold * 1_000);
  return `${threshold} ${threshold === 1 ? unit.slice(0, -1) : unit}`;
}
