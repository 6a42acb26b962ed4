/** An SMTP server that keeps the mail it gets. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { until } from './until.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers and body. */
  text: string;
}

export class MailServer {
  readonly #server: SMTPServer;
  readonly mails: ReceivedMail[] = [];
  /** What the next mails are rejected with; undefined: they are accepted. */
  rejection: Error | undefined;

  static async start(): Promise<MailServer> {
    const mail = new MailServer();
    mail.#server.listen(0, '127.0.0.1');
    await once(mail.#server.server, 'listening');
    return mail;
  }

  constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData: async (stream, { envelope }, done) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        this.mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text: await text(stream) });
        done(this.rejection);
      },
    });
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`;
  }

  async got(count: number): Promise<ReceivedMail[]> {
    return until(() => this.mails.length >= count && this.mails, { describe: `${count} mails` });
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
