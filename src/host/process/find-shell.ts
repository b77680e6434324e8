import { existsSync } from 'node:fs'

/** The shell that commands run in. */
export function findShell(): string {
  return ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/opt/homebrew/bin/bash'].find(existsSync) ?? 'bash'
}
