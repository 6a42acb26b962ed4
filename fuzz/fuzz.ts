/** Fuzzes its own service: first with the corpus, then with the cases of a seed, in batches. After each batch it checks the processes and
 *  retries suspects alone, so that a finding names one case. */
import { setTimeout } from 'node:timers/promises';
import { allCases } from './arbitraries/cases.ts';
import { type Attack, BATCH, batchesOf } from './batches.ts';
import { type Case, type HttpCase, socketWrites } from './case.ts';
import { checkAccess, type Problem } from './check-access.ts';
import { checkResponse, LIMIT_MS } from './check-response.ts';
import { checkWebhooks } from './check-webhooks.ts';
import { shrinkCase } from './generate.ts';
import { startNeighbor } from './neighbor.ts';
import { reproductionCommand } from './reproduce.ts';
import { sendBytes } from './socket.ts';
import { startTargets } from './targets.ts';
import { exitedProcess, LOOP_LIMIT_SECONDS, readVitals, untilIdle, type Vitals } from './vitals.ts';

export interface FuzzOptions {
  seed: number;
  cases: number;
  /** Send only this case of the seed. */
  only?: number | undefined;
  /** false skips the corpus. */
  corpus?: boolean;
  /** Shrinks findings, which takes time. */
  shrink?: boolean;
  /** Measures the latency of another sender, before and during a rate-limited attack. */
  timed?: boolean;
  progress?: (line: string) => void;
}

export interface Finding {
  /** `case 17 of seed 1`, or the title of a corpus entry. */
  origin: string;
  problem: string;
  case: Case;
  /** Shell command that reproduces it. */
  command: string;
}

export interface Report {
  seed: number;
  cases: number;
  findings: Finding[];
  seconds: number;
  statuses: Record<string, number>;
  /** Latencies of the other sender, if measured, and its failed events. */
  neighbor: { beforeMs: number[]; duringMs: number[]; failures: readonly string[] };
  residentBytes: { warm: Record<string, number>; end: Record<string, number> };
  /** What webhooks of providers did wrong, without a response that shows it. */
  webhooks: string[];
}

const AT_ONCE = 6;
/** Attackers, service and Redis may share two cores. The latency of the other sender is therefore measured next to one attacker that
 *  pauses after each request, so that the machine has capacity for all of them. */
const TIMED_EVERY = 4;
const PAUSE_MS = 25;
/** Without times, a few events say whether it is served. */
const NEIGHBOR_EVERY_MS = { timed: 50, untimed: 400 };
const REFRESH_EVERY = 4;
const BASELINE_MS = 10_000;
/** Raw bytes may get no response, so the wait is short. */
const WIRE_PATIENCE_MS = 1_000;
const FINDINGS_MAX = 10;

export async function fuzz({
  seed,
  cases,
  only,
  corpus = true,
  shrink = false,
  timed = false,
  progress: tell = () => {},
}: FuzzOptions): Promise<Report> {
  const startedAt = performance.now();
  let targets = await startTargets();
  const neighborEveryMs = timed ? NEIGHBOR_EVERY_MS.timed : NEIGHBOR_EVERY_MS.untimed;
  const { service } = targets;
  const redisPid = Number(/process_id:(\d+)/.exec(await service.redis.info('server'))?.[1]);
  const neighbor = startNeighbor(service.url + service.eventPath, neighborEveryMs, [
    ...service.webs.map(({ pid }) => pid),
    redisPid,
  ]);
  const generated = allCases(targets.document);
  const findings: Finding[] = [];
  const statuses: Record<string, number> = {};
  let done = 0;
  const beforeMs: number[] = [];
  const duringMs: number[] = [];
  let warm: Record<string, number> | undefined;
  try {
    if (timed) await neighbor.during(beforeMs, () => setTimeout(BASELINE_MS));
    let vitals = await readVitals(targets);
    for (const batch of batchesOf(seed, cases, only, corpus, generated)) {
      findings.push(...(await sendBatch(batch, vitals)));
      done += batch.length;
      if ((done / BATCH) % REFRESH_EVERY < 1) await targets.refresh();
      vitals = await readVitals(targets);
      const { residentBytes } = vitals;
      if (done > cases / 10) warm ??= residentBytes;
      tell(`${done} cases, ${findings.length} findings; ${memoryText(residentBytes)}`);
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
      webhooks: exitedProcess(targets) ? [] : await checkWebhooks(targets),
    };
  } finally {
    await neighbor.stop();
    await targets.stop();
  }

  async function sendBatch(batch: Attack[], before: Vitals): Promise<Finding[]> {
    const isTimed = timed && Math.floor(done / BATCH) % TIMED_EVERY === 0;
    const suspects = isTimed ? await neighbor.during(duringMs, () => sendAll(batch, 1)) : await sendAll(batch, AT_ONCE);
    if (!exitedProcess(targets)) await targets.cancelBulkWork();
    await untilIdle(targets);
    if (exitedProcess(targets)) return [await findFatalCase(batch)];
    const found: Finding[] = [];
    for (const suspect of suspects) {
      const problem = suspect.isCertain ? suspect.text : await reproduce(suspect);
      if (problem) found.push(await toFinding(suspect, problem));
    }
    const stalled = stallText(before, await readVitals(targets));
    if (stalled) found.push(...(await findStallingCases(batch, stalled)));
    return found;
  }

  /** @returns cases with an invalid response */
  async function sendAll(batch: Attack[], atOnce: number): Promise<(Attack & Problem)[]> {
    const waiting = [...batch];
    const suspects: (Attack & Problem)[] = [];
    const work = async () => {
      for (let attack = waiting.shift(); attack; attack = waiting.shift()) {
        const problem = await problemOf(attack.case);
        if (problem) suspects.push({ ...attack, ...problem });
        if (atOnce === 1) await setTimeout(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return suspects;
  }

  async function problemOf(one: Case): Promise<Problem | undefined> {
    const { caller } = one as Partial<HttpCase>;
    if (caller) await targets.introduce(caller);
    const { outcome, sent } = await send(one);
    const text = checkResponse(one, outcome, sent);
    if (text || !caller) return text ? { text } : undefined;
    const answered = async (other: HttpCase) => (await send(other)).outcome;
    return checkAccess({ ...(one as HttpCase), caller }, outcome, targets.names, answered);
  }

  async function send(one: Case) {
    const wire = socketWrites(one, targets.names);
    const sent = wire.reduce<number>((sum, part) => sum + (typeof part === 'number' ? 0 : part.length), 0);
    const port = Number(targets.names.host?.split(':')[1]);
    const outcome = await sendBytes(port, wire, one.kind === 'wire' ? WIRE_PATIENCE_MS : LIMIT_MS);
    const status = String(outcome.status ?? outcome.ended);
    statuses[status] = (statuses[status] ?? 0) + 1;
    return { outcome, sent };
  }

  /** Retries a case alone, to exclude the effects of other cases and of a busy machine. */
  async function reproduce({ case: one }: Attack): Promise<string | undefined> {
    return (await problemOf(one)) && (await problemOf(one))?.text;
  }

  async function findStallingCases(batch: Attack[], what: string): Promise<Finding[]> {
    const found: Finding[] = [];
    for (const attack of batch) {
      if (await stalls(attack.case)) found.push(await toFinding(attack, what));
      if (exitedProcess(targets)) return [...found, await findFatalCase([attack])];
      if (found.length >= FINDINGS_MAX) break;
    }
    return found;
  }

  async function stalls(one: Case): Promise<string | undefined> {
    const before = await readVitals(targets);
    await problemOf(one);
    await untilIdle(targets);
    return exitedProcess(targets) ?? stallText(before, await readVitals(targets));
  }

  /** Sends each case alone to a new service until one kills it. */
  async function findFatalCase(batch: Attack[]): Promise<Finding> {
    const problem = exitedProcess(targets) as string;
    await restartTargets();
    for (const attack of batch) {
      await problemOf(attack.case);
      await untilIdle(targets);
      const again = exitedProcess(targets);
      if (!again) continue;
      await restartTargets();
      return finding(attack, again);
    }
    return finding(
      { ...(batch[0] as Attack), origin: `one or more of ${batch[0]?.origin} to ${batch.at(-1)?.origin}` },
      problem,
    );
  }

  async function restartTargets(): Promise<void> {
    await targets.stop().catch(() => {});
    targets = await startTargets();
  }

  async function toFinding(attack: Attack, problem: string): Promise<Finding> {
    const { number } = attack;
    if (!shrink || number === undefined) return finding(attack, problem);
    const fails = async (one: Case) =>
      !exitedProcess(targets) && Boolean((await reproduce({ origin: '', case: one })) || (await stalls(one)));
    const smaller = await shrinkCase(generated, seed, number, fails).catch(() => attack.case);
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

/** @returns a description; undefined without a stall */
function stallText({ stalls: before }: Vitals, { stalls: after }: Vitals): string | undefined {
  const roles = (['web', 'worker'] as const).filter((role) => after[role] > before[role]);
  if (roles.length === 0) return undefined;
  return `it blocked the event loop of ${roles.join(' and ')} for more than ${LOOP_LIMIT_SECONDS * 1_000} ms of CPU time`;
}

function memoryText(bytes: Record<string, number>): string {
  return Object.entries(bytes)
    .map(([role, count]) => `${role} ${Math.round(count / 1_048_576)} MB`)
    .join(', ');
}
