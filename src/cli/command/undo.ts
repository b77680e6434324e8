import { dirname, join } from 'node:path'
import { inspectUndo, keepIn, undo, type UndoFile } from '../../agent/undo.ts'
import { keepingFormer } from '../../host/keep.ts'
import { localHost } from '../../host/local.ts'
import { takeUp } from '../../session/session.ts'
import { jsonlStore } from '../../session/store/jsonl.ts'
import { StoreProblem } from '../../session/store/store.ts'
import { commandsSince, redoPlan, undoPlan, type UndoPlan } from '../../session/undo.ts'
import { sessionNamed, workFolder } from '../setup/assemble.ts'
import { Complaint, EXIT } from '../exit.ts'
import { UNDO } from '../manual/undo.ts'
import { visible } from '../output/visible.ts'
import { parseLine } from '../line/parse.ts'
import { sessionsFolder, writeLocksFolder } from '../own/places.ts'
import { nothingText, undoText } from './undo-text.ts'

/** `dragoman undo`: puts files back as they were. */
export async function undoCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseLine('dragoman undo', UNDO.options, args)
  const turn = turnOf(positionals)
  const folder = workFolder(values.cwd === undefined ? {} : { cwd: values.cwd })
  const store = jsonlStore(sessionsFolder(folder))
  try {
    const session = takeUp(store.open(sessionNamed(values.session ?? 'latest', store)))
    try {
      const plan = values.redo ? redoPlan(session.entries) : undoPlan(session.entries, turn)
      if (!plan) {
        const text = values.redo
          ? 'There is no undo to take back.\n'
          : nothingText(commandsSince(session.entries, turn))
        process.stdout.write(visible(text))
        return EXIT.ok
      }
      const scratch = join(sessionsFolder(folder), 'scratch', session.id)
      const local = localHost({ folders: foldersOf(plan, folder), scratch, locks: writeLocksFolder() })
      const host = keepingFormer(local, keepIn(session, store))
      const looked = await inspectUndo(plan, host.files, store)
      process.stdout.write(visible(await undoText(plan, looked, host.files, store)))
      const force = values.force ?? false
      // An undo that was killed may have put all files back, but left their folders, and no word of it in the log.
      if (looked.every(({ action }) => action === 'nothing')) await undo(plan, host.files, { session, store })
      if (!looked.some((file) => isToDo(file, force))) return leftOver(looked)
      if (!values.yes && !(await agreed())) return EXIT.failure
      const { done, left } = await undo(plan, host.files, { session, store, force })
      process.stdout.write(`${count(done.length)} put back. dragoman undo --redo takes this back.\n`)
      return leftOver(left)
    } finally {
      session.close()
    }
  } catch (error) {
    if (error instanceof StoreProblem) throw new Complaint(error.message)
    throw error
  }
}

function isToDo({ action }: UndoFile, force: boolean): boolean {
  return action === 'write' || action === 'remove' || (force && action === 'changed')
}

/** Files that could not be put back make the command fail, for whoever relies on it. */
function leftOver(files: readonly UndoFile[]): number {
  return files.some(({ action }) => action === 'changed' || action === 'lost') ? EXIT.failure : EXIT.ok
}

function count(files: number): string {
  return files === 1 ? 'One file was' : `${files} files were`
}

/** The folder of the session, and those of files outside of it: other workspace folders, and our memory. */
function foldersOf({ steps }: UndoPlan, folder: string): string[] {
  const outside = steps.filter(({ path }) => !path.startsWith(`${folder}/`)).map(({ path }) => dirname(path))
  return [folder, ...new Set(outside)]
}

/** One key answers, as in a conversation. */
async function agreed(): Promise<boolean> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) throw new Complaint('nobody is there to say yes; give --yes to put these files back')
  stdin.setRawMode(true)
  stderr.write('Put them back? [y] yes   [n] no > ')
  try {
    for await (const keys of stdin.setEncoding('utf8')) {
      // Keys that are pressed quickly come together.
      const key = Array.from(String(keys).toLowerCase()).find((one) => ANSWERS.includes(one))
      if (key === undefined) continue
      stderr.write(`${key === 'y' ? 'yes' : 'no'}\n`)
      return key === 'y'
    }
    return false
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
  }
}

/** Yes, no, and the keys that mean no everywhere: Escape, Control-C, Control-D. */
const ANSWERS = 'yn\u001B\u0003\u0004'

function turnOf(positionals: readonly string[]): number | undefined {
  const [text, ...more] = positionals
  if (text === undefined) return undefined
  const turn = Number(text)
  if (more.length > 0 || !Number.isSafeInteger(turn) || turn < 1)
    throw new Complaint(`dragoman undo takes the number of a turn, not “${positionals.join(' ')}”`)
  return turn
}
