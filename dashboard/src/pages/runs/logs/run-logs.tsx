import { useState } from 'react';
import type { LogLine, RunWithHistory } from '../../../api/types.ts';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Select, TextField } from '../../../ui/field.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { Card } from '../../../ui/page.tsx';
import { filteredLines, type LineFilter } from './filter-lines.ts';
import { LogLines } from './log-lines.tsx';
import { type RunLog, useRunLogs } from './use-run-logs.ts';

const LEVELS: readonly (readonly [level: LogLine['level'], label: string])[] = [
  ['debug', 'All levels'],
  ['info', 'Info and above'],
  ['warn', 'Warnings and errors'],
  ['error', 'Errors'],
];

/** Lines that the function has logged outside of its steps; on request, also in its steps. */
export function RunLogs({ run }: { run: RunWithHistory }) {
  const { data, error, refetch } = useRunLogs(run.run_id);
  const [filter, setFilter] = useState<LineFilter>({ level: 'debug', text: '', steps: false });
  const change = (changed: Partial<LineFilter>) => setFilter({ ...filter, ...changed });
  return (
    <Card title="Logs" actions={data && data.lines.length > 0 && <Filter filter={filter} onChange={change} />}>
      {error ? (
        <div className="p-4">
          <ErrorAlert error={error} onRetry={() => void refetch()} />
        </div>
      ) : data ? (
        <Lines run={run} log={data} filter={filter} />
      ) : (
        <Loading rows={2} />
      )}
    </Card>
  );
}

function Filter({ filter, onChange }: { filter: LineFilter; onChange(changed: Partial<LineFilter>): void }) {
  return (
    <>
      <Checkbox checked={filter.steps} onChange={(steps) => onChange({ steps })}>
        With those of steps
      </Checkbox>
      <Select
        label="Level"
        hideLabel
        value={filter.level}
        onChange={({ target }) => onChange({ level: target.value as LogLine['level'] })}
      >
        {LEVELS.map(([level, label]) => (
          <option key={level} value={level}>
            {label}
          </option>
        ))}
      </Select>
      <TextField
        label="Search the logs"
        hideLabel
        type="search"
        placeholder="Search"
        value={filter.text}
        onChange={({ target }) => onChange({ text: target.value })}
      />
    </>
  );
}

function Lines({ run, log: { lines, dropped }, filter }: { run: RunWithHistory; log: RunLog; filter: LineFilter }) {
  if (lines.length === 0) return <NothingLogged />;
  const shown = filteredLines(lines, filter);
  const names = new Map(run.history.flatMap(({ step_id, name }) => (step_id && name ? [[step_id, name]] : [])));
  return (
    <>
      {shown.length > 0 ? (
        <LogLines
          label="Logs"
          lines={shown}
          startMs={Date.parse(run.run_started_at ?? run.queued_at)}
          stepNames={names}
        />
      ) : (
        <p className="px-4 py-3 text-sm text-muted">{noneOf(lines, filter)}</p>
      )}
      {dropped > 0 && (
        <p className="border-t border-line px-4 py-2 text-sm text-muted">
          {dropped === 1 ? '1 more line was' : `${dropped.toLocaleString('en')} more lines were`} left out: there are
          limits to what a call and a run may log.
        </p>
      )}
    </>
  );
}

function noneOf(lines: readonly LogLine[], { steps, text, level }: LineFilter): string {
  const hasOthers = !steps && lines.some(({ step_id }) => step_id !== null);
  if (hasOthers && text === '' && level === 'debug') return 'Nothing was logged outside of steps.';
  return 'No results';
}

function NothingLogged() {
  return (
    <p className="px-4 py-3 text-sm text-muted">
      Nothing was logged. What a function writes with the logger of its context appears here:{' '}
      <code className="font-mono text-xs">logger.info('paid', {'{ total }'})</code> in TypeScript,{' '}
      <code className="font-mono text-xs">ctx.logger.info("paid")</code> in Python.
    </p>
  );
}
