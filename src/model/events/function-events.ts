/** Events about ends and invocations of functions, as the official SDKs expect them. The dashboard imports this file, which imports nothing. */
export const FUNCTION_FAILED = 'inngest/function.failed';
export const FUNCTION_INVOKED = 'inngest/function.invoked';
