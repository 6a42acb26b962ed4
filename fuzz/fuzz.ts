/** Attacks a service of its own: first with the corpus, then with cases of a seed, a batch at a time. After each batch the processes are
 *  asked how they are; what is wrong is tried again alone, so that a finding names the one case that makes it. */
import { setTimeout } from 'node:timers/promises';
import { allCases } from './arbitraries/cases.ts';
import { type Attack, BATCH, batchesOf } from './batches.ts';
import { type Case, wireOf } from './case.ts';
import { checkResponse, LIMIT_MS } from './check-response.ts';
import { shrunk } from './generate.ts';
import { startNeighbor } from './neighbor.ts';
import { reproductionCommand } from './reproduce.ts';
import { sendBytes } from './socket.ts';
import { startTargets } from './targets.ts';
import { exitedProcess, LOOP_LIMIT_SECONDS, readVitals, untilIdle, type Vitals } from './vitals.ts';

export interface FuzzOptions {
  seed: number;
  cases: number;
  /** Only this one of the seed, after nothing else. */
  only?: number | undefined;
  /** false: the corpus is left out */
  corpus?: boolean;
  /** Makes what it finds smaller, which takes a while. */
  shrink?: boolean;
  /** Measures what another sender waits, before and beside an attacker who keeps to a pace. */
  timed?: boolean;
  tell?: (line: string) => void;
}

export interface Finding {
  /** `case 17 of seed 1`, or the title of an entry of the corpus. */
  origin: string;
  problem: string;
  case: Case;
  /** For a shell. */
  command: string;
}

export interface Report {
  seed: number;
  cases: number;
  findings: Finding[];
  seconds: number;
  statuses: Record<string, number>;
  /** Latencies, where they were measured; and what of all its events was refused. */
  neighbor: { beforeMs: number[]; duringMs: number[]; failures: readonly string[] };
  residentBytes: { warm: Record<string, number>; end: Record<string, number> };
}

const AT_ONCE = 6;
/** Attackers, service and Redis may share two cores. So what another sender waits is measured beside one attacker who takes a breath after
 *  each request: then the machine has room for all of them, and the figure is the service's. */
const TIMED_EVERY = 4;
const BREATH_MS = 25;
const REFRESH_EVERY = 4;
const BASELINE_MS = 10_000;
/** Bytes that are no request may well be met with silence, which is not waited for. */
const WIRE_PATIENCE_MS = 1_000;
const FINDINGS_MAX = 10;

export async function fuzz({
  seed,
  cases,
  only,
  corpus = true,
  shrink = false,
  timed = false,
  tell = () => {},
}: FuzzOptions): Promise<Report> {
  const startedAt = performance.now();
  let targets = await startTargets();
  const neighbor = startNeighbor(targets.service.url + targets.service.eventPath);
  const generated = allCases(targets.document);
  const findings: Finding[] = [];
  const statuses: Record<string, number> = {};
  let done = 0;
  const beforeMs: number[] = [];
  const duringMs: number[] = [];
  let warm: Record<string, number> | undefined;
  try {
    if (timed) await neighbor.during(beforeMs, () => setTimeout(BASELINE_MS));
    for (const batch of batchesOf(seed, cases, only, corpus, generated)) {
      findings.push(...(await assault(batch)));
      done += batch.length;
      if ((done / BATCH) % REFRESH_EVERY < 1) await targets.refresh();
      const { residentBytes } = await readVitals(targets);
      if (done > cases / 10) warm ??= residentBytes;
      tell(`${done} cases, ${findings.length} findings; ${inMegabytes(residentBytes)}`);
      if (findings.length >= FINDINGS_MAX) break;
    }
    if (findings.length === 0) await targets.proveAlive();
    const { residentBytes: end } = await readVitals(targets);
    return {
      seed,
      cases: done,
      findings,
      seconds: (performance.now() - startedAt) / 1_000,
      statuses,
      neighbor: { beforeMs, duringMs, failures: neighbor.failures },
      residentBytes: { warm: warm ?? end, end },
    };
  } finally {
    await neighbor.stop();
    await targets.stop();
  }

  async function assault(batch: Attack[]): Promise<Finding[]> {
    const before = await readVitals(targets);
    const isTimed = timed && Math.floor(done / BATCH) % TIMED_EVERY === 0;
    const suspects = isTimed ? await neighbor.during(duringMs, () => sendAll(batch, 1)) : await sendAll(batch, AT_ONCE);
    await untilIdle(targets);
    if (exitedProcess(targets)) return [await culpritOfDeath(batch)];
    const found: Finding[] = [];
    for (const suspect of suspects) {
      const problem = await again(suspect);
      if (problem) found.push(await told(suspect, problem));
    }
    const stalled = stall(before, await readVitals(targets));
    if (stalled) found.push(...(await culpritOfStall(batch, stalled)));
    return found;
  }

  /** @returns those whose answer was wrong */
  async function sendAll(batch: Attack[], atOnce: number): Promise<Attack[]> {
    const waiting = [...batch];
    const suspects: Attack[] = [];
    const work = async () => {
      for (let attack = waiting.shift(); attack; attack = waiting.shift()) {
        if (await problemOf(attack.case)) suspects.push(attack);
        if (atOnce === 1) await setTimeout(BREATH_MS);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return suspects;
  }

  async function problemOf(one: Case): Promise<string | undefined> {
    const wire = wireOf(one, targets.names);
    const sent = wire.reduce<number>((sum, part) => sum + (typeof part === 'number' ? 0 : part.length), 0);
    const port = Number(targets.names.host?.split(':')[1]);
    const outcome = await sendBytes(port, wire, one.kind === 'wire' ? WIRE_PATIENCE_MS : LIMIT_MS);
    const status = String(outcome.status ?? outcome.ended);
    statuses[status] = (statuses[status] ?? 0) + 1;
    return checkResponse(one, outcome, sent);
  }

  /** Alone: what only happens beside others, or while the machine has no time, is not the case's fault. */
  async function again({ case: one }: Attack): Promise<string | undefined> {
    return (await problemOf(one)) && (await problemOf(one));
  }

  async function culpritOfStall(batch: Attack[], what: string): Promise<Finding[]> {
    const found: Finding[] = [];
    for (const attack of batch) {
      if (await stalls(attack.case)) found.push(await told(attack, what));
      if (exitedProcess(targets)) return [...found, await culpritOfDeath([attack])];
      if (found.length >= FINDINGS_MAX) break;
    }
    return found;
  }

  async function stalls(one: Case): Promise<string | undefined> {
    const before = await readVitals(targets);
    await problemOf(one);
    await untilIdle(targets);
    return exitedProcess(targets) ?? stall(before, await readVitals(targets));
  }

  /** Each alone against a new service, until one dies. */
  async function culpritOfDeath(batch: Attack[]): Promise<Finding> {
    const problem = exitedProcess(targets) as string;
    await startAnew();
    for (const attack of batch) {
      await problemOf(attack.case);
      await untilIdle(targets);
      const again = exitedProcess(targets);
      if (!again) continue;
      await startAnew();
      return finding(attack, again);
    }
    return finding(
      { ...(batch[0] as Attack), origin: `one or several of ${batch[0]?.origin} to ${batch.at(-1)?.origin}` },
      problem,
    );
  }

  async function startAnew(): Promise<void> {
    await targets.stop().catch(() => {});
    targets = await startTargets();
  }

  async function told(attack: Attack, problem: string): Promise<Finding> {
    const { number } = attack;
    if (!shrink || number === undefined) return finding(attack, problem);
    const fails = async (one: Case) =>
      !exitedProcess(targets) && Boolean((await again({ origin: '', case: one })) || (await stalls(one)));
    const smaller = await shrunk(generated, seed, number, fails).catch(() => attack.case);
    return finding({ ...attack, case: smaller }, problem);
  }

  function finding({ origin, case: one }: Attack, problem: string): Finding {
    tell(`${origin}: ${problem.split('\n', 1)[0]}`);
    return {
      origin,
      problem,
      case: one,
      command: reproductionCommand(one, targets.names, origin.replace(/\W+/g, '-').slice(0, 60)),
    };
  }
}

/** In words; undefined: none stood still. */
function stall({ stalls: before }: Vitals, { stalls: after }: Vitals): string | undefined {
  const roles = (['web', 'worker'] as const).filter((role) => after[role] > before[role]);
  if (roles.length === 0) return undefined;
  return `it kept the event loop of ${roles.join(' and ')} for more than ${LOOP_LIMIT_SECONDS * 1_000} ms of CPU time`;
}

function inMegabytes(bytes: Record<string, number>): string {
  return Object.entries(bytes)
    .map(([role, count]) => `${role} ${Math.round(count / 1_048_576)} MB`)
    .join(', ');
}
