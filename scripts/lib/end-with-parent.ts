/** Preloaded (--import) into a program: terminates it when the script that started it exits. */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The listener must not keep the program alive.
process.channel?.unref();
