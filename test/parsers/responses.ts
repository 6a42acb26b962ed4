/** Worst-case responses of apps. */
import { type Attack, fill } from './attacks.ts';

const ID = '0'.repeat(40);
const one = (fields: string) => `{"id":"${ID}",${fields}}`;

export function signedResponses(bytes: number): Attack[] {
  const list = (part: string): string => fill(`${part},`, bytes, '[', `${part}]`);
  return [
    ['finished steps', list(one('"op":"StepRun","data":1'))],
    ['planned steps', list(one('"op":"StepPlanned"'))],
    ['waits', list(one('"op":"WaitForEvent","opts":{"event":"a","timeout":"1d","if":"true"}'))],
    ['operations that are none', list('{}')],
    ['operations with one wrong letter', list(`{"id":"${'0'.repeat(39)}g","op":"StepRun"}`)],
    ['a long ID', fill('0', bytes, '[{"op":"StepRun","id":"', 'g"}]')],
    ['a long name', fill('a', bytes, `[{"id":"${ID}","op":"Step","name":"`, '"}]')],
    ['a long duration', fill('1s', bytes, `[{"id":"${ID}","op":"Sleep","opts":{"duration":"`, '"}}]')],
    ['unknown fields', fill('"a":1,', bytes, '[{', `"op":"Step","id":"${ID}"}]`)],
    ['JSON in a string', JSON.stringify(fill('[],', Math.floor(bytes / 2), '[', '0]'))],
  ];
}
