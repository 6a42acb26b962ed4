/** The functions that every engine runs. Their steps compute nothing, so what is measured is the engine. */

/** Steps of each function, by its name. */
export const FUNCTIONS = { plain: 0, three: 3, ten: 10 } as const;
export type FunctionName = keyof typeof FUNCTIONS;
export const FUNCTION_NAMES = Object.keys(FUNCTIONS) as FunctionName[];

/** In the body of a request that starts a run: the number of the run. */
export const RUN = '<run>';

/** Runs the steps one after the other. */
export async function runSteps(
  name: FunctionName,
  step: (id: string, work: () => Promise<number>) => Promise<unknown>,
): Promise<void> {
  for (let n = 1; n <= FUNCTIONS[name]; n++) await step(`step-${n}`, async () => n);
}
