import type { ReactNode } from 'react';
import type { Overview } from '../../api/types.ts';
import { formatBytes } from '../../lib/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import { duration, Time } from '../../ui/time.tsx';

/** Memory use and durability settings of Redis. */
export function RedisCard({ redis }: { redis: Overview['redis'] }) {
  const { version, cluster, warnings } = redis;
  // The memory of one node runs short first.
  const { used_memory_bytes: used, max_memory_bytes: max } = cluster?.fullest ?? redis;
  return (
    <Card title="Redis" actions={<span className="text-xs text-muted">{version}</span>}>
      <div className="space-y-4 p-4">
        <div>
          <p className="flex justify-between gap-4 text-sm">
            <span className="text-muted">{cluster ? 'Memory of the fullest node' : 'Memory'}</span>
            <span className="tabular-nums">
              {formatBytes(used)} {max === null ? 'used, no limit' : `of ${formatBytes(max)}`}
            </span>
          </p>
          {max !== null && (
            <meter
              aria-label="Redis memory"
              className="mt-1.5 block h-2 w-full"
              min={0}
              max={max}
              high={max * 0.8}
              optimum={0}
              value={used}
            />
          )}
        </div>
        <dl className="space-y-1.5 text-sm">
          {cluster && <ClusterState redis={redis} cluster={cluster} />}
          <NamedValue name="Eviction policy">{redis.maxmemory_policy}</NamedValue>
          <NamedValue name="Append-only file (AOF)">{redis.appendonly ? 'on' : 'off'}</NamedValue>
          {redis.appendfsync !== null && <NamedValue name="AOF fsync">{redis.appendfsync}</NamedValue>}
        </dl>
        {warnings.map((warning) => (
          <p key={warning} className="flex gap-2 rounded-md bg-warn-soft p-3 text-sm">
            <Icon name="warning" className="mt-0.5 text-warn" />
            <span className="min-w-0 break-words">{warning}</span>
          </p>
        ))}
      </div>
    </Card>
  );
}

function ClusterState({
  redis,
  cluster,
}: {
  redis: Overview['redis'];
  cluster: NonNullable<Overview['redis']['cluster']>;
}) {
  return (
    <>
      <NamedValue name="Fullest node">{cluster.fullest.address}</NamedValue>
      <NamedValue name="Memory of all primaries">{formatBytes(redis.used_memory_bytes)}</NamedValue>
      <NamedValue name="Cluster">{`primaries: ${cluster.primaries}, replicas: ${cluster.replicas}`}</NamedValue>
      {cluster.hash_slots_not_served > 0 && (
        <NamedValue name="Hash slots without a node">{cluster.hash_slots_not_served}</NamedValue>
      )}
    </>
  );
}

function NamedValue({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex justify-between gap-4">
      <dt className="text-muted">{name}</dt>
      <dd className="font-mono text-xs leading-5">{children}</dd>
    </div>
  );
}

export function ProcessesCard({ processes }: { processes: Overview['processes'] }) {
  return (
    <Card title="Processes">
      {processes.length === 0 && <p className="p-4 text-muted">No process has reported yet.</p>}
      <ul className="divide-y divide-line">
        {processes.map(({ id, kind, host, pid, started_at, memory_bytes }) => (
          <li key={id} className="flex items-center gap-3 px-4 py-2.5 text-sm">
            <span className="w-14 font-medium">{kind}</span>
            <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted" title={`${host}, PID ${pid}`}>
              {host}:{pid}
            </span>
            <span className="text-xs whitespace-nowrap text-muted tabular-nums">
              {formatBytes(memory_bytes)} · started <Time at={started_at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The service rejects events until its backlog or memory use drops. */
export function BackpressureAlert({ reasons }: { reasons: string[] }) {
  return <HealthAlert title="New events are rejected (503)">{reasons.join('; ')}</HealthAlert>;
}

/** Postgres is down, or data that should be archived is still in Redis. */
export function ArchiveAlert({
  archive: { state, reason, behind_seconds, room_seconds },
}: {
  archive: Overview['archive'];
}) {
  if (state !== 'unavailable' && state !== 'behind') return null;
  const behind = duration((behind_seconds ?? 0) * 1_000);
  const room =
    room_seconds !== null && ` At its present growth, events are rejected in ${duration(room_seconds * 1_000)}.`;
  return state === 'unavailable' ? (
    <HealthAlert title="The archive is unavailable">
      {reason && `${reason}. `}Redis keeps everything until Postgres is back; older events and runs cannot be shown.
      {room}
    </HealthAlert>
  ) : (
    <HealthAlert title={`The archive is ${behind} behind`}>
      Events stay in Redis until they are archived.{room}
    </HealthAlert>
  );
}

/** Events wait in the outbox of an app, or for a person. */
export function OutboxCard({ outbox }: { outbox: NonNullable<Overview['outbox']> }) {
  const { waiting, lag_seconds, refused, uncertain, bytes, problem } = outbox;
  const warning =
    problem ??
    (refused + uncertain > 0 &&
      'Refused and uncertain events wait for a person: tidegate outbox list shows them, resend and drop decide.');
  return (
    <Card title="Outbox">
      <div className="space-y-4 p-4">
        <dl className="space-y-1.5 text-sm">
          <NamedValue name="Waiting events">{waiting}</NamedValue>
          <NamedValue name="Oldest">{waiting > 0 ? duration(lag_seconds * 1_000) : 'none'}</NamedValue>
          <NamedValue name="Refused">{refused}</NamedValue>
          <NamedValue name="Uncertain">{uncertain}</NamedValue>
          <NamedValue name="Size">{formatBytes(bytes)}</NamedValue>
        </dl>
        {warning && (
          <p className="flex gap-2 rounded-md bg-warn-soft p-3 text-sm">
            <Icon name="warning" className="mt-0.5 text-warn" />
            <span className="min-w-0 break-words">{warning}</span>
          </p>
        )}
      </div>
    </Card>
  );
}

function HealthAlert({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div role="alert" className="mb-6 flex items-start gap-3 rounded-lg border border-warn/50 bg-warn-soft p-4">
      <Icon name="warning" className="mt-0.5 text-warn" />
      <div className="min-w-0">
        <p className="font-medium">{title}</p>
        <p className="mt-0.5 text-sm">{children}</p>
      </div>
    </div>
  );
}
