import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RehearsalScript, ScriptStep } from '../../../src/rehearsal/script/script.ts'
import type { ClientTools } from '../client.ts'
import { EDIT_TURN, type TaskFault } from './task-faults.ts'

/** The files at the beginning; each has a word that a result must bring back to the model. */
const FILES = {
  'a.txt': 'The bird is a heron.\n',
  'b.txt': 'The tree is an alder.\n',
  'c.txt': 'The stone is a flint.\n',
}

const EDITED = 'The bird is an egret.\n'
const LOG_LINE = 'the shell ran\n'

/** What the model says at the end. */
export const LAST_WORDS = 'All five turns of the task are finished.'

export function writeTaskFiles(workspace: string): void {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(workspace, name), text)
}

/** Five turns: a file, two files in parallel, an edit, a command, and the end. */
export function createTaskScript(tools: ClientTools, fault?: TaskFault): RehearsalScript {
  const { read, edit, shell } = tools
  const turns: ScriptStep[] = [
    { think: 'I need the file.', say: 'I read a file.', call: [read('a.txt')] },
    { think: 'Now the others.', say: 'I read two files.', call: [read('b.txt'), read('c.txt')] },
    {
      think: 'It is not a heron.',
      say: 'I edit a file.',
      call: [edit('a.txt', 'The bird is a heron.', EDITED.trim())],
    },
    { think: 'A command is left.', say: 'I run a command.', call: [shell(`echo '${LOG_LINE.trim()}' >> d.txt`)] },
    { say: LAST_WORDS },
  ]
  // What the results of the turn before must contain.
  const results = [[], ['heron'], ['alder', 'flint']]
  // Clients also ask for titles and the like, without these tools.
  const needed = [...new Set([read('a.txt'), edit('a.txt', '', ''), shell('')].map(({ name }) => name))]
  // Not by the turns if one breaks off: some clients keep its text, others do not. Not by the results if two calls have one id:
  // on Gemini's API they are one call.
  const resultCounts = [0, 1, 3, 4, 5]
  const isBroken = fault?.turn === EDIT_TURN
  const steps = turns.map((turn, at): ScriptStep => {
    const expected = fault ? [] : (results[at] ?? [])
    return {
      when: { tools: needed, ...(isBroken ? { resultCount: resultCounts[at] ?? 0 } : { turns: at }) },
      ...(expected.length > 0 && { expect: { results: expected } }),
      ...turn,
      ...(fault?.turn === at && { misbehave: fault.misbehave }),
    }
  })
  return { steps, end: { say: tools.answer ?? 'No more.' } }
}

export interface TaskFiles {
  readonly isEdited: boolean
  readonly hasRunCommand: boolean
  /** What no call of the script can have done. */
  readonly wrong: readonly string[]
}

export function checkTaskFiles(workspace: string): TaskFiles {
  const read = (name: string): string => {
    const path = join(workspace, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  const [edited, log] = [read('a.txt'), read('d.txt')]
  const wrong = [
    ...(edited === EDITED || edited === FILES['a.txt'] ? [] : [`a.txt contains ${JSON.stringify(edited)}`]),
    ...(log === '' || log === LOG_LINE ? [] : [`d.txt contains ${JSON.stringify(log)}`]),
    ...(['b.txt', 'c.txt'] as const).flatMap((name) => (read(name) === FILES[name] ? [] : [`${name} was changed`])),
  ]
  return { isEdited: edited === EDITED, hasRunCommand: log === LOG_LINE, wrong }
}
