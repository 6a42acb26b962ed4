/** Texts for the reasons why a bulk operation waits. */
const WAITING: Record<string, string> = {
  backlog: 'the queues are half full',
  memory: 'Redis is nearly full',
  active_runs: 'too many of its runs are active',
  archive_unavailable: 'the archive cannot be reached',
  environment_archived: 'its environment is archived',
};

export function waitingText(reason: string): string {
  return WAITING[reason] ?? reason;
}
