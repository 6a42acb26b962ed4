/** Sends the queued messages of alert channels. A message is stored before it is sent, and stays until its server
 *  has accepted it: a process that dies in between sends it again, under the same ID. */
import { duty } from '../../duties/duty.ts';
import type { Logger } from '../../log.ts';
import type { AlertChannel } from '../../model/alerts/channel.ts';
import { dueMessage, EMPTY_QUEUE, withFailure, withMessage, withSent } from '../../model/alerts/channel-queue.ts';
import type { Environment } from '../../model/environment.ts';
import { newId } from '../../model/ids.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Store } from '../../store/store.ts';
import { hasAlerts } from './alert-rounds.ts';
import type { AlertSender } from './alert-sender.ts';

export const alertDelivery = duty<{ alertSending: AlertSending }>({
  name: 'alert-messages',
  about: 'Sends the messages of alerts to their channels',
  scope: 'installation',
  everyMs: 3_000,
  leaseMs: 30_000,
  rounds:
    ({ alertSending }) =>
    ({ signal }) =>
      alertSending.sendAll(Date.now(), signal),
});

export interface AlertSendingDeps extends Pick<Store, 'alertBooks' | 'alertChannels' | 'environments'> {
  alertSender: AlertSender;
  publicUrl: string | undefined;
  log: Logger;
}

export class AlertSending extends Composed<AlertSendingDeps> {
  /** A slow channel delays no other channel of its round. The next round waits for all. */
  async sendAll(nowMs: number, signal: AbortSignal): Promise<void> {
    const environments = (await this.deps.environments.all()).filter(hasAlerts);
    const results = await Promise.allSettled(
      environments.map((environment) => this.#sendIn(environment, nowMs, signal)),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  async #sendIn(environment: Environment, nowMs: number, signal: AbortSignal): Promise<void> {
    const { alertBooks, alertChannels } = this.deps;
    const { name: env } = environment;
    const { queues } = await alertBooks.read(env);
    if (queues.size === 0) return;
    const channels = (await alertChannels.all(env)).filter(({ name }) => queues.has(name));
    const { queues: planned } = await alertBooks.change(env, (book) => {
      const all = channels.flatMap((channel) => {
        const queue = book.queues.get(channel.name);
        return queue ? [[channel.name, withMessage(queue, channel, book.alerts, nowMs, newId)] as const] : [];
      });
      return { ...book, queues: new Map([...book.queues, ...all]) };
    });
    await Promise.all(
      channels.map(async (channel) => {
        const message = dueMessage(planned.get(channel.name) ?? EMPTY_QUEUE, nowMs);
        if (message && !signal.aborted) await this.#send(environment, channel, message);
      }),
    );
  }

  async #send(
    { name: env, kind }: Environment,
    channel: AlertChannel,
    message: NonNullable<ReturnType<typeof dueMessage>>,
  ) {
    const { alertBooks, alertChannels, alertSender, publicUrl, log } = this.deps;
    const secrets = alertChannels.secretsOf(env, channel);
    const sent = await alertSender.send(channel, { env, message, publicUrl, secrets }, kind);
    const status = sent.status === undefined ? '' : `status ${sent.status}: `;
    const problem = status + sent.response;
    if (!sent.isAccepted) {
      log.warn({ environment: env, channel: channel.name, err: problem }, 'an alert channel did not accept a message');
    }
    await alertBooks.change(env, (book) => {
      const queue = book.queues.get(channel.name);
      if (!queue) return book;
      const changed = sent.isAccepted
        ? withSent(queue, message.id, Date.now())
        : withFailure(queue, message.id, { problem, retryAfterMs: sent.retryAfterMs }, Date.now());
      return { ...book, queues: new Map(book.queues).set(channel.name, changed) };
    });
  }
}
