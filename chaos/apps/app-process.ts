/** The process of an app, which serves functions and connects with others. Faults stop and kill it. */
import type { HostProgram } from '../../test/support/program.ts';

export class AppProcess {
  /** The start of the IDs of its functions. */
  readonly idPrefix: string;
  readonly #start: () => Promise<HostProgram>;
  /** undefined: it is dead. */
  #host: HostProgram | undefined;

  private constructor(language: string, start: () => Promise<HostProgram>, host: HostProgram) {
    this.idPrefix = `chaos-${language}-`;
    this.#start = start;
    this.#host = host;
  }

  /** @param start starts the program, at the same address each time */
  static async start(language: string, start: () => Promise<HostProgram>): Promise<AppProcess> {
    return new AppProcess(language, start, await start());
  }

  get url(): string {
    return this.#host?.url ?? '';
  }

  get pid(): number {
    return this.#host?.pid ?? 0;
  }

  /** Resolves when its successor listens and is connected. */
  async killAndRestart(): Promise<void> {
    await this.#host?.kill();
    this.#host = undefined;
    this.#host = await this.#start();
  }

  /** @throws if it does not exit cleanly */
  async stop(): Promise<void> {
    await this.#host?.stop();
  }
}
