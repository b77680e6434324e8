const HELP = `Usage: dragoman doctor [provider/model] [--json] [--write-profile] [options]
       dragoman doctor --list
       dragoman doctor --local

Asks a model for thirty behaviours that an agent relies on, looks at every byte of its answers, and says what it found.
It costs some ten thousand tokens. The exit code is 0 only if tools can be used with it.

  --json             the report as JSON
  --write-profile    keeps the flags that were found out, so that the next run uses them
  --max-tokens <n>   stop asking after so many tokens (80000)
  --answer <n>       at most so many tokens an answer (2000): less is quicker on slow machines
  --timeout <s>      how long to wait for one answer, in seconds
  --list             the behaviours, and nothing is asked
  --local            what is in force on this machine: the sandbox, the programs that are used, settings, keys, trust
`

/** `dragoman doctor`: examines a model, or looks at this machine. */
export async function doctorCommand(args: string[]): Promise<number | void> {
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) return void process.stdout.write(HELP)
  if (args.includes('--local')) {
    const { doctorLocal } = await import('./doctor-local.ts')
    return doctorLocal(args.filter((arg) => arg !== '--local'))
  }
  return (await import('./doctor-model.ts')).doctorModel(args)
}
