/** Values over time, as the API counts them in time steps of equal length. */
interface TimeSteps {
  to: string;
  step_seconds: number;
  points: readonly { at: string }[];
}

/** Whether the last time step is still in progress, so that its counts are incomplete. */
export function isUnfinished({ to, step_seconds, points }: TimeSteps): boolean {
  const last = points.at(-1);
  return last !== undefined && Date.parse(last.at) + step_seconds * 1_000 > Date.parse(to);
}
