/** The results of a run from all that was found. */
import { cpus } from 'node:os';
import type { InjectedFaults } from './attack.ts';
import type { SignedFindings } from './checks/signed.ts';
import type { Checked } from './history/check.ts';
import type { History } from './history/history.ts';
import type { BulkWork } from './load/bulk-work.ts';
import type { ControlWork } from './load/control-work.ts';
import type { Ledger } from './load/ledger.ts';
import type { Sender } from './load/sender.ts';
import type { SignedWebhook } from './load/signed-webhook.ts';
import { type Options, SHORT_MINUTES, usualAtMost, usualRate } from './options.ts';
import type { Count, Results } from './results.ts';
import { DRAIN_MS, type Service } from './service.ts';
import type { Target } from './targets/target.ts';
import type { Timeline } from './timeline.ts';

export const RECOVERY_MS = { short: 60_000, long: 180_000 };
const ENDS_WITHIN_SECONDS = 25;

export interface Facts {
  options: Options;
  timeline: Timeline;
  attacked: InjectedFaults;
  recoverySeconds: number;
  history: History;
  checked: Checked;
  ledger: Ledger;
  sender: Sender;
  service: Service;
  target: Target;
  /** Results about lists and the archive. */
  inArchive: Count[];
  /** Number of runs that were in Postgres while they slept or waited; undefined: there is no archive. */
  offloaded: number | undefined;
  signed: SignedFindings;
  bulk: BulkWork;
  wrongInBulk: string[];
  control: ControlWork;
  signedWebhook: SignedWebhook;
  kept: string[];
  version: string;
}

/** Without those of a load balancer that got no CPU time: it does not see in time that a process shuts down. */
function failedInDeploy({ sender, timeline }: Facts): string[] {
  return sender.failedInDeploy
    .filter(({ fromMs, untilMs }) => !timeline.hasStarved(fromMs - DRAIN_MS, untilMs))
    .map(({ what }) => what);
}

export function toResults(facts: Facts): Results {
  const { options, attacked, history, ledger, sender, service, target, signed, kept } = facts;
  const { kills, terminations, unexpected } = service.ends;
  const { counts: checked, repeats } = facts.checked;
  const none = (name: string, findings: string[]): Count => ({ name, most: 0, figure: findings.length, findings });
  const counts: Count[] = [
    ...checked,
    ...facts.inArchive,
    none('deliveries of a provider without exactly one event', signed.notOnce),
    none('events from forged requests', signed.forged),
    none('bulk actions that missed, repeated or miscounted a run', facts.wrongInBulk),
    none('keys without a TTL by mistake', kept),
    none('responses other than 200, 429 and 503', ledger.unexpected),
    none('responses 429 and 503 without Retry-After', ledger.withoutRetryAfter),
    none('unexpected or unclean exits', unexpected),
    none('requests failed in rolling deploys', failedInDeploy(facts)),
    ...(options.withoutArchive ? [] : [none('requests failed while Postgres was away', sender.failedWithoutPostgres)]),
    ...target.counts(),
    {
      name: 'longest time from SIGTERM to exit',
      most: ENDS_WITHIN_SECONDS,
      figure: Math.max(0, ...terminations),
      unit: 's',
    },
    {
      name: 'recovery after the last fault',
      most: (options.short ? RECOVERY_MS.short : RECOVERY_MS.long) / 1_000,
      figure: facts.recoverySeconds,
      unit: 's',
    },
  ];
  return {
    seed: options.seed,
    command: commandOf(options),
    at: new Date().toISOString(),
    machine: { cpu: cpus()[0]?.model ?? '', cores: cpus().length, node: process.version, redis: facts.version },
    minutes: facts.timeline.nowMs / 60_000,
    languages: options.languages,
    faults: attacked.faults,
    left_out: attacked.skipped,
    load: {
      'acknowledged events': ledger.events.size,
      'acknowledged requests': ledger.acknowledgements,
      'requests resent after an acknowledgement': ledger.repeated,
      'requests resent without an acknowledgement': ledger.resent,
      'acknowledged deliveries of a provider': facts.signedWebhook.acknowledged,
      'forged requests': facts.signedWebhook.forgeries,
      'rotations of the secret of a provider': facts.signedWebhook.rotations,
      ...(facts.offloaded !== undefined && { 'runs that slept in Postgres': facts.offloaded }),
      'bulk actions': facts.bulk.actions.size,
      replays: facts.control.replays,
      'pauses that hold queued runs': facts.control.pauses,
      'paused runs resumed by a person': facts.control.resumed,
      'ticks of schedules': new Set(history.starts.flatMap(({ tickMs }) => tickMs ?? [])).size,
      'entries of the history': history.entries.length,
      runs: history.runs.length,
      'steps run': repeats.executions,
      'steps repeated because of a crash': repeats.excused,
      'processes killed': kills,
      'processes terminated by SIGTERM': terminations.length,
      'requests in rolling deploys': sender.sentInDeploy,
      ...target.load(),
    },
    counts,
  };
}

/** Repeats the run. */
function commandOf(options: Options): string {
  const { cluster, withoutArchive, seed, short, minutes, kills, atMostMinutes, rate, only, send } = options;
  const length = short && minutes === SHORT_MINUTES ? '' : ` --minutes ${minutes}`;
  return [
    'scripts/chaos',
    cluster ? ' --cluster' : '',
    withoutArchive ? ' --without-archive' : '',
    ` --seed ${seed}`,
    short ? ' --short' : '',
    length,
    kills > 0 ? ` --kills ${kills}` : '',
    atMostMinutes === usualAtMost(minutes) ? '' : ` --at-most ${atMostMinutes}`,
    rate === usualRate(short, cluster) ? '' : ` --rate ${rate}`,
    only ? ` --only ${only.join()}` : '',
    send ? ` --send '${send.join(';')}'` : '',
  ].join('');
}
