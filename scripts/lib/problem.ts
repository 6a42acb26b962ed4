/** An error that the user can fix. Its message is printed without a stack. */
export class Problem extends Error {
  override name = 'Problem';
}

/** Runs the main function of a script. An error sets exit code 1. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Problem ? error.message : error);
    process.exitCode = 1;
  }
}
