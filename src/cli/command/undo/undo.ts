import { dirname, join } from 'node:path'
import { inspectUndoPlan, createChangeRecorder, applyUndoPlan, type UndoFile } from '../../../agent/apply-undo.ts'
import { withChangeRecording } from '../../../host/files/record-changes.ts'
import { localHost } from '../../../host/local-host.ts'
import { resumeSession } from '../../../session/session.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { createRedoPlan, createUndoPlan, listUnrecordedCommands, type UndoPlan } from '../../../session/undo-plan.ts'
import { findSessionId, resolveWorkFolder, withStoreErrors } from '../../setup/assemble-agent.ts'
import { confirm } from '../../confirm.ts'
import { EXIT_CODE } from '../../user-error.ts'
import { UNDO_COMMAND } from './spec.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import {
  type OptionValues,
  parseCommandLine,
  parsePositiveInteger,
  rejectExtraArgs,
} from '../../args/parse-command-line.ts'
import { getSessionsFolder, getWriteLocksFolder } from '../../paths/folders.ts'
import { formatNothingToUndo, formatUndoFiles, formatUndoPlan } from './undo-text.ts'

export async function runUndoCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman undo', UNDO_COMMAND.options, args)
  rejectExtraArgs('dragoman undo', positionals, 1)
  const turn = parsePositiveInteger('dragoman undo', positionals[0])
  return withStoreErrors(() => undo(values, turn))
}

async function undo(values: OptionValues<typeof UNDO_COMMAND.options>, turn: number | undefined): Promise<number> {
  const folder = resolveWorkFolder(values)
  const store = jsonlStore(getSessionsFolder(folder))
  const session = resumeSession(await store.open(await findSessionId(values.session ?? 'latest', store)))
  try {
    const plan = values.redo ? createRedoPlan(session.entries) : createUndoPlan(session.entries, turn)
    if (!plan) {
      const nothing = values.redo
        ? 'There is no undo to reverse.\n'
        : formatNothingToUndo(listUnrecordedCommands(session.entries, turn))
      process.stdout.write(escapeForTerminal(nothing))
      return EXIT_CODE.ok
    }
    const scratch = join(getSessionsFolder(folder), 'scratch', session.id)
    const local = localHost({ folders: findFolders(plan, folder), scratch, locks: getWriteLocksFolder() })
    const host = withChangeRecording(local, createChangeRecorder(session, store))
    const inspectedFiles = await inspectUndoPlan(plan, host.files, store)
    const text = values.brief
      ? formatUndoFiles(plan, inspectedFiles, folder)
      : await formatUndoPlan(plan, inspectedFiles, host.files, store)
    process.stdout.write(escapeForTerminal(text))
    const force = values.force ?? false
    // An undo that was killed may have restored all files, but not their folders, and left no entry in the log.
    if (inspectedFiles.every(({ action }) => action === 'nothing'))
      await applyUndoPlan(plan, host.files, { session, store })
    if (!inspectedFiles.some((file) => isPending(file, force))) return toExitCode(inspectedFiles)
    if (!values.yes && !(await confirm('Restore these files?'))) return EXIT_CODE.failure
    const { done, left } = await applyUndoPlan(plan, host.files, { session, store, force })
    const count = done.length === 1 ? '1 file was' : `${done.length} files were`
    const hint = values.brief ? '' : ' To reverse this: dragoman undo --redo, or /undo --redo in the session.'
    process.stdout.write(`${count} restored.${hint}\n`)
    return toExitCode(left)
  } finally {
    await session.close()
  }
}

function isPending({ action }: UndoFile, force: boolean): boolean {
  return action === 'write' || action === 'remove' || (force && action === 'changed')
}

/** Fails if files could not be restored. */
function toExitCode(files: readonly UndoFile[]): number {
  return files.some(({ action }) => action === 'changed' || action === 'lost') ? EXIT_CODE.failure : EXIT_CODE.ok
}

/** The folder of the session, and the folders of changed files outside of it. */
function findFolders({ steps }: UndoPlan, folder: string): string[] {
  const outside = steps.filter(({ path }) => !path.startsWith(`${folder}/`)).map(({ path }) => dirname(path))
  return [folder, ...new Set(outside)]
}
