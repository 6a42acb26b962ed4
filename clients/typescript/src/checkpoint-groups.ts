/** Checkpoints of calls that store steps at the same time share a request, which costs app and service a fraction of one request each. While
 *  requests are in flight, the next group collects; a checkpoint that comes alone waits for none. */
import { parseObject } from './response.ts';
import { askService } from './service.ts';
import type { Settings } from './settings.ts';

/** Maximum number of requests in flight. One would leave the service idle meanwhile; more would make smaller groups. */
const IN_FLIGHT = 2;
/** Maximum number of checkpoints in a request, and of their characters; a single longer one has a request of its own. */
const GROUP_MAX = 50;
const LENGTH_MAX = 1_048_576;
const TIMEOUT_MS = 10_000;
const HEADERS = { 'content-type': 'application/json' };

interface Waiting {
  runId: string;
  /** JSON. */
  body: string;
  settings: Settings;
  resolve(status: number): void;
  reject(error: unknown): void;
}

export class CheckpointGroups {
  #waiting: Waiting[] = [];
  #inFlight = 0;
  /** The service is older than groups. */
  #isUnknown = false;

  /** Resolves to the status of the response for this checkpoint. */
  send(runId: string, body: string, settings: Settings): Promise<number> {
    if (this.#isUnknown) return sendOne(runId, body, settings);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ runId, body, settings, resolve, reject });
      this.#sendWaiting();
    });
  }

  #sendWaiting(): void {
    if (this.#inFlight < IN_FLIGHT && this.#waiting.length > 0) void this.#sendGroup(this.#takeGroup());
  }

  async #sendGroup(group: readonly Waiting[]): Promise<void> {
    this.#inFlight++;
    try {
      const statuses = await this.#statusesOf(group);
      for (const [i, { resolve }] of group.entries()) resolve(statuses[i] ?? 0);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#inFlight--;
      this.#sendWaiting();
    }
  }

  async #statusesOf(group: readonly Waiting[]): Promise<number[]> {
    const [{ settings }] = group as [Waiting];
    if (group.length > 1 && !this.#isUnknown) {
      const body = `{"checkpoints":[${group.map((one) => one.body).join()}]}`;
      const answer = await askService(
        '/v1/checkpoints',
        { method: 'POST', headers: HEADERS, body },
        settings,
        TIMEOUT_MS,
      );
      if (answer.status !== 404 && answer.status !== 405) return statusesIn(answer.status, answer.text, group.length);
      this.#isUnknown = true;
    }
    return Promise.all(group.map((one) => sendOne(one.runId, one.body, one.settings)));
  }

  /** Takes the checkpoints for the same service and environment that have waited longest. */
  #takeGroup(): Waiting[] {
    const [first] = this.#waiting as [Waiting];
    let length = 0;
    let end = 0;
    for (const { body, settings } of this.#waiting.slice(0, GROUP_MAX)) {
      length += body.length;
      const fits = settings.baseUrl === first.settings.baseUrl && settings.env === first.settings.env;
      if (end > 0 && (!fits || length > LENGTH_MAX)) break;
      end++;
    }
    return this.#waiting.splice(0, end);
  }
}

async function sendOne(runId: string, body: string, settings: Settings): Promise<number> {
  const path = `/v1/checkpoint/${encodeURIComponent(runId)}/async`;
  return (await askService(path, { method: 'POST', headers: HEADERS, body }, settings, TIMEOUT_MS)).status;
}

/** Each checkpoint has a status of its own in the response; if there is none, that of the response. */
function statusesIn(status: number, text: string, count: number): number[] {
  const { results } = parseObject(text);
  const each = status === 200 && Array.isArray(results) ? results : [];
  return Array.from({ length: count }, (_, i) => Number(each[i]?.status ?? (status === 200 ? 0 : status)));
}
