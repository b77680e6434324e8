import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** What `ownName` says in the folder of the sources. */
export const NPM_START_COMMAND = 'npm start --'

/** How a person calls this command: as it was called now, where that can be known. */
export function findCommandName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  // npm tells what it runs; what it runs for another package is none of ours.
  if (env['npm_lifecycle_event'] === 'start' && env['npm_package_name'] === 'dragoman') return NPM_START_COMMAND
  if (env['npm_command'] === 'exec' && env['npm_lifecycle_event'] === 'npx') return 'npx dragoman'
  const isOnPath = (env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'dragoman')))
  return isOnPath ? 'dragoman' : (process.argv[1] ?? 'dragoman')
}
