import { dirname, join } from 'node:path'
import { inspectUndoPlan, createChangeRecorder, applyUndoPlan, type UndoFile } from '../../../agent/apply-undo.ts'
import { withChangeRecording } from '../../../host/files/record-changes.ts'
import { localHost } from '../../../host/local-host.ts'
import { resumeSession } from '../../../session/session.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { StoreError } from '../../../session/store/store.ts'
import { commandsSince, createRedoPlan, createUndoPlan, type UndoPlan } from '../../../session/undo-plan.ts'
import { findSessionId, resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { UNDO_COMMAND } from './spec.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { parseCommandLine } from '../../args/parse.ts'
import { sessionsFolderPath, writeLocksFolderPath } from '../../paths/folders.ts'
import { nothingText, formatUndoPlan } from './undo-text.ts'

/** `dragoman undo`: puts files back as they were. */
export async function runUndoCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman undo', UNDO_COMMAND.options, args)
  const turn = parseTurnNumber(positionals)
  const folder = resolveWorkFolder(values.cwd === undefined ? {} : { cwd: values.cwd })
  const store = jsonlStore(sessionsFolderPath(folder))
  try {
    const session = resumeSession(store.open(findSessionId(values.session ?? 'latest', store)))
    try {
      const plan = values.redo ? createRedoPlan(session.entries) : createUndoPlan(session.entries, turn)
      if (!plan) {
        const text = values.redo
          ? 'There is no undo to take back.\n'
          : nothingText(commandsSince(session.entries, turn))
        process.stdout.write(escapeForTerminal(text))
        return EXIT_CODE.ok
      }
      const scratch = join(sessionsFolderPath(folder), 'scratch', session.id)
      const local = localHost({ folders: findFolders(plan, folder), scratch, locks: writeLocksFolderPath() })
      const host = withChangeRecording(local, createChangeRecorder(session, store))
      const inspectedFiles = await inspectUndoPlan(plan, host.files, store)
      process.stdout.write(escapeForTerminal(await formatUndoPlan(plan, inspectedFiles, host.files, store)))
      const force = values.force ?? false
      // An undo that was killed may have put all files back, but left their folders, and no word of it in the log.
      if (inspectedFiles.every(({ action }) => action === 'nothing'))
        await applyUndoPlan(plan, host.files, { session, store })
      if (!inspectedFiles.some((file) => isPending(file, force))) return toExitCode(inspectedFiles)
      if (!values.yes && !(await confirmUndo())) return EXIT_CODE.failure
      const { done: restored, left: skipped } = await applyUndoPlan(plan, host.files, { session, store, force })
      process.stdout.write(`${describeCount(restored.length)} put back. dragoman undo --redo takes this back.\n`)
      return toExitCode(skipped)
    } finally {
      session.close()
    }
  } catch (error) {
    if (error instanceof StoreError) throw new UserError(error.message)
    throw error
  }
}

function isPending({ action }: UndoFile, force: boolean): boolean {
  return action === 'write' || action === 'remove' || (force && action === 'changed')
}

/** Files that could not be put back make the command fail, for whoever relies on it. */
function toExitCode(files: readonly UndoFile[]): number {
  return files.some(({ action }) => action === 'changed' || action === 'lost') ? EXIT_CODE.failure : EXIT_CODE.ok
}

function describeCount(files: number): string {
  return files === 1 ? 'One file was' : `${files} files were`
}

/** The folder of the session, and those of files outside of it: other workspace folders, and our memory. */
function findFolders({ steps }: UndoPlan, folder: string): string[] {
  const outside = steps.filter(({ path }) => !path.startsWith(`${folder}/`)).map(({ path }) => dirname(path))
  return [folder, ...new Set(outside)]
}

/** One key answers, as in a conversation. */
async function confirmUndo(): Promise<boolean> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) throw new UserError('nobody is there to say yes; give --yes to put these files back')
  stdin.setRawMode(true)
  stderr.write('Put them back? [y] yes   [n] no > ')
  try {
    for await (const keys of stdin.setEncoding('utf8')) {
      // Keys that are pressed quickly come together.
      const key = Array.from(String(keys).toLowerCase()).find((one) => CONFIRM_KEYS.includes(one))
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
const CONFIRM_KEYS = 'yn\u001B\u0003\u0004'

function parseTurnNumber(positionals: readonly string[]): number | undefined {
  const [text, ...more] = positionals
  if (text === undefined) return undefined
  const turn = Number(text)
  if (more.length > 0 || !Number.isSafeInteger(turn) || turn < 1)
    throw new UserError(`dragoman undo takes the number of a turn, not “${positionals.join(' ')}”`)
  return turn
}
