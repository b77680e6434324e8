import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export const NPM_START_COMMAND = 'npm start --'

/** The command as the user calls it, for examples in messages. */
export function getInvocationName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  // npm sets these for any package that it runs.
  if (env['npm_lifecycle_event'] === 'start' && env['npm_package_name'] === 'dragoman') return NPM_START_COMMAND
  if (env['npm_command'] === 'exec' && env['npm_lifecycle_event'] === 'npx') return 'npx dragoman'
  const isOnPath = (env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'dragoman')))
  return isOnPath ? 'dragoman' : (process.argv[1] ?? 'dragoman')
}
