/** Publishes realtime messages, and gets tokens to subscribe with. */
import { postJson, refused } from './post-json.ts';
import type { SubscriptionToken } from './realtime.ts';
import type { Settings } from './settings.ts';

export interface MessageToPublish {
  /** A name such as `thread:7`. */
  channel: string;
  /** The kind of message. */
  topic: string;
  data: unknown;
}

/** @throws SendError, ConfigError */
export async function publish(message: MessageToPublish, runId: string | undefined, settings: Settings): Promise<void> {
  const { channel, topic, data } = message;
  const query = new URLSearchParams({ channel, topic, ...(runId && { run_id: runId }) });
  const answer = await postJson(`/v1/realtime/publish?${query}`, data, settings);
  if (!answer.ok) throw refused(`The message for ${JSON.stringify(channel)} was not published`, answer);
}

/** @throws SendError, ConfigError */
export async function subscriptionToken(
  channel: string,
  topics: readonly string[],
  settings: Settings,
): Promise<SubscriptionToken> {
  const wanted = topics.map((name) => ({ channel, name, kind: 'run' }));
  const answer = await postJson('/v1/realtime/token', wanted, settings);
  const { jwt } = answer.fields;
  if (!answer.ok || typeof jwt !== 'string') throw refused(`There is no token for ${JSON.stringify(channel)}`, answer);
  return { baseUrl: settings.baseUrl, token: jwt };
}
