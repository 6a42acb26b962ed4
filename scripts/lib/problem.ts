/** An error that the user can fix: the script prints only its message, without a stack. */
export class Problem extends Error {
  override name = 'Problem';
}

/** Runs the main function of a script; exits with code 1 on a problem or an error. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Problem ? error.message : error);
    process.exitCode = 1;
  }
}
