/** Issues of webhooks: one per webhook and kind of failure. Each expires after 90 days without a failure. The script that opens or resolves
 *  an issue also adds a pending notification, which stays until it is sent: the process that runs the script may die. */

import type { PrincipalKind } from '../../model/auth/access.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { sum } from '../../model/values/sum.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { ISSUE_KINDS, ISSUE_STATES, type IssueKind, type IssueState, issueIdOf } from '../../model/webhooks/issue.ts';
import { inPipelines, replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import type { PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { luaJson } from '../redis/lua-json.ts';
import { mergeNewest, newestAtOnce, type Position, type TimeRange } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';

const TTL_MS = 90 * DAY_MS;
export const REASONS_MAX = 20;
const COUNTED_MAX = 10_000;

/** Who changed the state of an issue: a principal, or traffic. */
export interface ChangedBy {
  kind: PrincipalKind | 'traffic';
  id: string;
  name: string;
}

/** Requests arrived again after a silence. */
export const TRAFFIC: ChangedBy = { kind: 'traffic', id: 'traffic', name: 'traffic' };

/** The last failure of an issue. */
export interface IssueSample {
  /** null for a silence. */
  requestId: string | null;
  reason: string;
  message: string;
  /** Unix milliseconds. */
  at: number;
}

/** Failures of one webhook and kind. */
export interface Failures {
  webhookId: string;
  kind: IssueKind;
  /** Unix milliseconds. */
  firstAt: number;
  lastAt: number;
  count: number;
  reasons: Record<string, number>;
  sample: IssueSample;
  /** Failures with the same marker count once. */
  marker?: string | undefined;
}

export interface Recorded {
  id: string;
  happened: 'opened' | 'reopened' | '';
  state: IssueState;
  /** How often the issue was reopened. */
  reopened: number;
}

export interface WebhookIssue {
  id: string;
  webhookId: string;
  kind: IssueKind;
  state: IssueState;
  /** Unix milliseconds. */
  firstSeen: number;
  lastSeen: number;
  count: number;
  reasons: Record<string, number>;
  sample: IssueSample;
  /** First failure since it was opened or reopened. */
  openedAt: number;
  /** How often a failure reopened it. */
  reopened: number;
  stateChangedAt: number;
  /** undefined if a failure opened it. */
  stateChangedBy: ChangedBy | undefined;
  /** The last replay of its requests since it was opened. */
  replayId: string | undefined;
  /** Marker of the last failure. */
  marker: string | undefined;
}

/** A pending notification about an issue. */
export interface PendingNotification {
  id: string;
  event: 'failing' | 'recovered';
  /** How often the issue had been reopened. */
  reopened: number;
}

/** The issue at the time when it was opened or recovered. */
export interface NotificationContent {
  webhookId: string;
  kind: IssueKind;
  /** Unix milliseconds. */
  at: number;
  count: number;
  firstSeen: number;
  sample: IssueSample;
}

export class WebhookIssues extends Repository<ScriptedRedis, PartitionedIds> {
  /** Adds failures. The one process that opens or reopens the issue sends the notification. */
  async record({ webhookId, kind, marker, sample, ...failures }: Failures, nowMs: number): Promise<Recorded> {
    const id = issueIdOf(this.deps, webhookId, kind);
    const args = {
      id,
      webhookId,
      kind,
      ...failures,
      sample: luaJson(sample),
      reasonsMax: REASONS_MAX,
      nowMs,
      ttlMs: TTL_MS,
      ...(marker !== undefined && { ifNot: marker }),
    };
    const reply = await this.redis.recordWebhookFailures(...this.#keysOf(id), luaJson(args));
    const [happened, state, reopened] = reply as [Recorded['happened'], IssueState, number];
    return { id, happened, state, reopened };
  }

  async find(id: string): Promise<WebhookIssue | undefined> {
    if (!ID_PATTERN.test(id)) return undefined;
    return fromFields(id, await this.redis.hgetall(this.keys.of(id).webhookIssue(id)));
  }

  /** The result is in the order of the IDs. */
  async read(ids: readonly string[]): Promise<(WebhookIssue | undefined)[]> {
    const commands = ids.map((id) => ['hgetall', this.keys.of(id).webhookIssue(id)]);
    const found = await inPipelines<Record<string, string>>(this.redis, commands);
    return found.map((fields, i) => fromFields(ids[i] as string, fields));
  }

  /** Issues of one webhook, in the order of the kinds. */
  async ofWebhook(webhookId: string): Promise<WebhookIssue[]> {
    const found = await this.read(ISSUE_KINDS.map((kind) => issueIdOf(this.deps, webhookId, kind)));
    return found.filter((issue) => issue !== undefined);
  }

  /** Positions by the last failure, newest first. */
  async list(
    states: readonly IssueState[],
    cursor: Position | undefined,
    limit: number,
    nowMs: number,
  ): Promise<Position[]> {
    const after = nowMs - TTL_MS;
    const ofPartition = (keys: PartitionKeyspace) => (atMost: number, from: TimeRange['cursor']) =>
      newestAtOnce(this.redis, states.map(keys.webhookIssues), { after, cursor: from }, atMost);
    return mergeNewest(this.keys.all().map(ofPartition), cursor, limit);
  }

  async count(state: IssueState, nowMs: number): Promise<number> {
    const commands = this.keys.all().map((keys) => ['zcount', keys.webhookIssues(state), nowMs - TTL_MS, '+inf']);
    const counts = await inPipelines<number>(this.redis, commands);
    return sum(counts);
  }

  /** The webhook of each issue in a state. */
  async webhooksWith(state: IssueState, nowMs: number): Promise<string[]> {
    const positions = await this.list([state], undefined, COUNTED_MAX, nowMs);
    const commands = positions.map(({ id }) => ['hget', this.keys.of(id).webhookIssue(id), 'webhookId']);
    return (await inPipelines<string | null>(this.redis, commands)).filter((id) => id !== null);
  }

  /** @returns false if it was in none of the given states */
  async change(
    id: string,
    {
      from = ISSUE_STATES,
      to,
      by,
      notification,
    }: {
      from?: readonly IssueState[];
      to: IssueState;
      by: ChangedBy;
      notification?: Omit<NotificationContent, 'webhookId' | 'kind'>;
    },
    nowMs: number,
  ): Promise<boolean> {
    const args = {
      id,
      from,
      to,
      by: JSON.stringify(by),
      nowMs,
      ttlMs: TTL_MS,
      ...(notification && { notification: JSON.stringify(notification) }),
    };
    return (await this.redis.changeWebhookIssue(...this.#keysOf(id), JSON.stringify(args))) === 1;
  }

  /** Records a replay of its requests. */
  async noteReplay(id: string, replayId: string): Promise<void> {
    const key = this.keys.of(id).webhookIssue(id);
    if ((await this.redis.exists(key)) === 1) await this.redis.hset(key, 'replayId', replayId);
  }

  /** Notifications of a partition pending since before a time, oldest first. */
  async pendingNotifications(partition: number, beforeMs: number, limit: number): Promise<PendingNotification[]> {
    const { webhookIssueNotifications } = this.keys.partition(partition);
    const members = await this.redis.zrangebyscore(webhookIssueNotifications, '-inf', beforeMs, 'LIMIT', 0, limit);
    return members.map((member) => {
      const [id, event, reopened] = member.split(' ') as [string, PendingNotification['event'], string];
      return { id, event, reopened: Number(reopened) };
    });
  }

  /** Content of a notification; undefined: it was sent in the meantime, or the issue is gone. */
  async notificationContent({ id, event, reopened }: PendingNotification): Promise<NotificationContent | undefined> {
    const key = this.keys.of(id).webhookIssue(id);
    const [webhookId, kind, text] = await this.redis.hmget(key, 'webhookId', 'kind', fieldOf(event, reopened));
    if (!webhookId || !text) return undefined;
    return {
      webhookId,
      kind: kind as IssueKind,
      ...(JSON.parse(text) as Omit<NotificationContent, 'webhookId' | 'kind'>),
    };
  }

  async noteNotified({ id, event, reopened }: PendingNotification): Promise<void> {
    const keys = this.keys.of(id);
    const writing = this.redis.multi().hdel(keys.webhookIssue(id), fieldOf(event, reopened));
    writing.zrem(keys.webhookIssueNotifications, `${id} ${event} ${reopened}`);
    replies(await writing.exec());
  }

  /** Deletes the issues of a deleted webhook. */
  async remove(webhookId: string): Promise<void> {
    const keys = this.keys.of(webhookId);
    const ids = ISSUE_KINDS.map((kind) => issueIdOf(this.deps, webhookId, kind));
    const writing = this.redis.pipeline().del(...ids.map((id) => keys.webhookIssue(id)));
    for (const state of ISSUE_STATES) writing.zrem(keys.webhookIssues(state), ...ids);
    replies(await writing.exec());
  }

  #keysOf(id: string): string[] {
    const keys = this.keys.of(id);
    return [keys.webhookIssue(id), ...ISSUE_STATES.map(keys.webhookIssues), keys.webhookIssueNotifications];
  }
}

function fieldOf(event: PendingNotification['event'], reopened: number): string {
  return `tell:${event}:${reopened}`;
}

function fromFields(id: string, fields: Record<string, string>): WebhookIssue | undefined {
  const { webhookId, kind, state, reasons, sample, stateChangedBy, replayId, marker } = fields;
  if (!webhookId || !reasons || !sample) return undefined;
  return {
    id,
    webhookId,
    kind: kind as IssueKind,
    state: state as IssueState,
    firstSeen: Number(fields.firstSeen),
    lastSeen: Number(fields.lastSeen),
    count: Number(fields.count),
    reasons: JSON.parse(reasons) as Record<string, number>,
    sample: JSON.parse(sample) as IssueSample,
    openedAt: Number(fields.openedAt),
    reopened: Number(fields.reopened),
    stateChangedAt: Number(fields.stateChangedAt),
    stateChangedBy: stateChangedBy === undefined ? undefined : (JSON.parse(stateChangedBy) as ChangedBy),
    replayId,
    marker,
  };
}
