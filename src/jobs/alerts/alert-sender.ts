/** Sends messages to alert channels, and returns the responses of their servers. Life cycle: one per process; `send`
 *  any number of times concurrently; `close`. */
import type { Transporter } from 'nodemailer';
import type { OutboundSettings } from '../../config.ts';
import { HttpAgent } from '../../functions/http-agent.ts';
import { httpPost } from '../../functions/http-post.ts';
import type { AlertChannel } from '../../model/alerts/channel.ts';
import { plainText } from '../../model/alerts/text.ts';
import type { EnvironmentKind } from '../../model/environment.ts';
import { retryAfterMs } from '../../model/runs/retry.ts';
import { inTime } from '../../model/values/in-time.ts';
import { VERSION } from '../../version.ts';
import { channelRequests, type Outbound, wordsOf } from './channel-requests.ts';

/** Time limit of all requests of a message; shorter than the lease of the duty that sends. */
const TIMEOUT_MS = 10_000;
const RESPONSE_MAX_BYTES = 16_384;
const EXCERPT_CHARS = 300;

export interface Mail {
  url: string;
  from: string;
}

/** The response of a channel's server. */
export interface Sent {
  isAccepted: boolean;
  /** Status of HTTP; absent for mail, and without a response. */
  status?: number;
  /** The response, or why there is none. */
  response: string;
  retryAfterMs?: number | undefined;
}

export interface AlertSenderDeps {
  outbound: OutboundSettings;
  /** undefined: no mail can be sent. */
  mail: Mail | undefined;
  timeoutMs?: number;
}

export class AlertSender {
  readonly #agent: HttpAgent;
  readonly #mail: Mail | undefined;
  readonly #timeoutMs: number;
  #transport: Transporter | undefined;

  constructor({ outbound, mail, timeoutMs = TIMEOUT_MS }: AlertSenderDeps) {
    this.#agent = new HttpAgent({ outbound, timeoutMs });
    this.#mail = mail;
    this.#timeoutMs = timeoutMs;
  }

  /** Never throws. Of several requests the first that is not accepted ends the attempt; repeated ones change nothing. */
  async send(channel: AlertChannel, outbound: Outbound, kind: EnvironmentKind): Promise<Sent> {
    const late = () => new Error(`not accepted within ${this.#timeoutMs / 1_000} s`);
    try {
      if (channel.kind === 'email') return await inTime(this.#sendMail(channel, outbound), this.#timeoutMs, late);
      const deadline = performance.now() + this.#timeoutMs;
      let sent: Sent = { isAccepted: true, response: '' };
      for (const { url, headers, body } of channelRequests(channel, outbound)) {
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) throw late();
        sent = await inTime(this.#post(url, headers, body, kind), leftMs, late);
        if (!sent.isAccepted) return sent;
      }
      return sent;
    } catch (error) {
      return { isAccepted: false, response: (error as Error).message };
    }
  }

  async close(): Promise<void> {
    this.#transport?.close();
    await this.#agent.destroy();
  }

  async #post(url: string, headers: Record<string, string>, body: string, kind: EnvironmentKind): Promise<Sent> {
    const limits = { timeoutMs: this.#timeoutMs, maxBytes: RESPONSE_MAX_BYTES, cuts: true } as const;
    const all = { 'user-agent': `Tidegate/${VERSION}`, ...headers };
    const response = await httpPost(this.#agent.for(kind), url, all, body, limits);
    const { status } = response;
    return {
      isAccepted: status >= 200 && status < 300,
      status,
      response: response.body.slice(0, EXCERPT_CHARS).toWellFormed(),
      retryAfterMs: retryAfterMs(response.headers['retry-after'], Date.now()),
    };
  }

  async #sendMail({ to = [] }: AlertChannel, outbound: Outbound): Promise<Sent> {
    const mail = this.#mail;
    if (!mail) return { isAccepted: false, response: 'SMTP_URL and ALERT_FROM are not set' };
    // Loaded with the first mail: most processes send none.
    const { createTransport } = await import('nodemailer');
    this.#transport ??= createTransport({
      url: mail.url,
      connectionTimeout: this.#timeoutMs,
      greetingTimeout: this.#timeoutMs,
      socketTimeout: this.#timeoutMs,
      // Mail is made of texts alone.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const words = wordsOf(outbound);
    const {
      response,
      accepted = [],
      rejected = [],
    } = await this.#transport.sendMail({
      from: { name: 'Tidegate', address: mail.from },
      to,
      subject: words.title,
      text: plainText(words),
      // The same on all attempts: mail servers and clients show it once.
      messageId: `<${outbound.message.id}@${mail.from.split('@')[1]}>`,
      headers: { 'auto-submitted': 'auto-generated' },
    });
    const refused = rejected.length === 0 ? '' : `; rejected: ${rejected.join(', ')}`;
    return { isAccepted: accepted.length > 0, response: response + refused };
  }
}
