import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import { stage } from './command.ts'
import { openTerminal } from './tmux.ts'

/** A model that changes a file and is done. */
export const EDIT: RehearsalScript['steps'] = [
  {
    say: 'I change it.',
    call: [{ name: 'replace', args: { file_path: '{cwd}/a.txt', old_string: 'hello', new_string: 'goodbye' } }],
  },
  { say: 'All **done**.' },
]

/** A conversation on a real terminal, in a folder with a file in it. */
export async function open(
  steps: RehearsalScript['steps'],
  more: { args?: string[]; columns?: number; rows?: number; env?: Record<string, string> } = {},
) {
  const here = await stage(steps)
  writeFileSync(join(here.work, 'a.txt'), 'hello\n')
  const env = { ...here.env, ...more.env }
  const size = {
    ...(more.columns !== undefined && { columns: more.columns }),
    ...(more.rows !== undefined && { rows: more.rows }),
  }
  const terminal = openTerminal(more.args ?? [], { work: here.work, env, ...size })
  await terminal.shows('Type a request.')
  return { ...here, terminal, env }
}
