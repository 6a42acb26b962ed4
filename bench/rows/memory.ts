/** Memory in Redis: of a stored event beside its payload, and of a finished run. */
import { setTimeout } from 'node:timers/promises';
import type { Row } from '../row.ts';
import type { Stage } from '../stage.ts';

const EVENTS = 40_000;
const EVENT = {
  name: 'bench/stored',
  data: { orderId: 'A1234567', customer: 'ada@example.com', total: 120, note: 'x'.repeat(100) },
};
const PAYLOAD_BYTES = JSON.stringify(EVENT).length;

export async function memoryRows(stage: Stage): Promise<Row[]> {
  const event = await bytesOf(stage, EVENT);
  const withRun = await bytesOf(stage, { ...EVENT, name: 'bench/run' });
  return [
    {
      work: 'a stored event in Redis, beside its payload',
      value: event - PAYLOAD_BYTES,
      unit: 'bytes',
      target: { most: 300 },
    },
    { work: 'a finished run in Redis', value: withRun - event, unit: 'bytes', target: { most: 700 } },
  ];
}

/** Of each such event and what it caused, when all is done. */
async function bytesOf(stage: Stage, event: object): Promise<number> {
  await settled(stage);
  const before = await stage.usedMemory();
  await stage.sendMany(event, EVENTS);
  await settled(stage);
  return ((await stage.usedMemory()) - before) / EVENTS;
}

/** Jobs are done, and Redis has grown or shrunk its tables and buffers. */
async function settled(stage: Stage): Promise<void> {
  await stage.drained();
  await setTimeout(3_000);
}
