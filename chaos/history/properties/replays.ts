/** Replays: each starts one run at most for an event and a function, and counts exactly those that it started. */
import type { History } from '../history.ts';
import type { Violation } from '../violation.ts';

export function checkReplays({ runs, replays }: History): Violation[] {
  const started = Map.groupBy(
    runs.filter(({ replayId }) => replayId !== null),
    ({ replayId }) => replayId ?? '',
  );
  const twice = [...started].flatMap(([replayId, ofReplay]) => {
    const byEvent = Map.groupBy(ofReplay, ({ functionId, eventIds }) => `${functionId} for ${eventIds.join()}`);
    return [...byEvent].flatMap(([what, proof]) =>
      proof.length === 1 ? [] : [{ what: `replay ${replayId} started ${proof.length} runs of ${what}`, proof }],
    );
  });
  const miscounted = replays.flatMap((replay) => {
    const count = started.get(replay.replayId)?.length ?? 0;
    return [
      ...(replay.started === count
        ? []
        : [{ what: `replay ${replay.replayId} counts ${replay.started} of ${count} runs`, proof: [replay] }]),
      ...(replay.status === 'done'
        ? []
        : [{ what: `replay ${replay.replayId} is ${replay.status} at the end`, proof: [replay] }]),
    ];
  });
  return [...twice, ...miscounted];
}
