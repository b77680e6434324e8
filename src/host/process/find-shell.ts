import { existsSync } from 'node:fs'

export function findShell(): string {
  return ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/opt/homebrew/bin/bash'].find(existsSync) ?? 'bash'
}
