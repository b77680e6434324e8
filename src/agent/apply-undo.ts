import type { Files } from '../host/host.ts'
import type { FileChange } from '../host/files/record-changes.ts'
import type { Session } from '../session/session.ts'
import type { Store } from '../session/store/store.ts'
import { createUndoEntry, type UndoPlan, type UndoStep } from '../session/undo-plan.ts'
import { defined } from '../model/defined.ts'
import { sha256Hex } from '../host/files/sha256.ts'

/** Keeps in a session what files were, durably: the content beside the log, and in the log what became of it. */
export function createChangeRecorder(session: Session, store: Store): (change: FileChange) => Promise<void> {
  return async ({ path, before, after, folders }) => {
    session.append({
      kind: 'change',
      path,
      ...(before && { before: { blob: store.putBlob(before.bytes), mode: before.mode } }),
      ...defined({ after }),
      ...(folders.length > 0 && { folders }),
    })
    await session.flush()
  }
}

/** What will happen to a file: it is written, removed, left as it is because it is so already, or left to whoever changed it. */
export type UndoAction = 'write' | 'remove' | 'nothing' | 'changed' | 'lost'

/** A file to put back, looked at. */
export interface UndoFile extends UndoStep {
  readonly action: UndoAction
}

/** Looks at the files of a plan. `lost`: what the file was cannot be read any more. */
export async function inspectUndoPlan(plan: UndoPlan, files: Files, store: Store): Promise<UndoFile[]> {
  const found: UndoFile[] = []
  for (const step of plan.steps) found.push({ ...step, action: await findUndoAction(step, files, store) })
  return found
}

/**
 * Puts files back, and tells the model. The files must be those of a host that keeps what they were (see `keepingFormer`):
 * so an undo can be undone. With `force`, also those that somebody else has changed. Gives what was left as it is.
 */
export async function applyUndoPlan(
  plan: UndoPlan,
  files: Files,
  { session, store, force = false }: { session: Session; store: Store; force?: boolean },
): Promise<{ readonly done: readonly UndoFile[]; readonly left: readonly UndoFile[] }> {
  const since = session.entries.at(-1)?.seq ?? 0
  const done: UndoFile[] = []
  const left: UndoFile[] = []
  for (const step of plan.steps) {
    const action = await findUndoAction(step, files, store)
    const file = { ...step, action }
    if (action === 'nothing') continue
    if (action === 'lost' || (action === 'changed' && !force)) left.push(file)
    else {
      await restoreFile(step, files, store)
      done.push(file)
    }
  }
  await removeEmptyFolders(plan.steps, files)
  session.append(
    createUndoEntry(
      plan,
      since,
      left.map(({ path }) => path),
    ),
  )
  session.append({ kind: 'note', text: formatUndoNote(plan, done, left) })
  await session.flush()
  return { done, left }
}

async function findUndoAction({ path, before, expected }: UndoStep, files: Files, store: Store): Promise<UndoAction> {
  const info = await files.info(path)
  const now = info?.kind === 'file' ? sha256Hex(await files.read(path)) : undefined
  if (info && info.kind !== 'file') return 'changed'
  if (now === before?.blob && (before === undefined || info?.mode === before.mode)) return 'nothing'
  if (before && store.getBlob(before.blob) === undefined) return 'lost'
  if (!expected.includes(now)) return 'changed'
  return before ? 'write' : 'remove'
}

async function restoreFile({ path, before }: UndoStep, files: Files, store: Store): Promise<void> {
  const bytes = before && store.getBlob(before.blob)
  if (before && bytes) await files.write(path, bytes, { mode: before.mode })
  else if (!before && (await files.info(path)) !== undefined) await files.remove(path)
}

/** Folders that were made for files go with them, the innermost first, unless there is something else in them by now. */
async function removeEmptyFolders(steps: readonly UndoStep[], files: Files): Promise<void> {
  const createdFolders = new Set(steps.flatMap(({ before, folders }) => (before ? [] : folders)))
  for (const folder of [...createdFolders].sort().reverse()) {
    const entries = await files.list(folder).catch(() => undefined)
    if (entries?.length === 0) await files.remove(folder).catch(() => undefined)
  }
}

function formatUndoNote(
  { promptNumber, redo }: UndoPlan,
  done: readonly UndoFile[],
  left: readonly UndoFile[],
): string {
  const target =
    redo === undefined ? `as they were before their message number ${promptNumber}` : 'as they were before their undo'
  const names = (list: readonly UndoFile[]): string =>
    list.length <= MAX_NAMED_FILES
      ? list.map(({ path }) => path).join(', ')
      : `${names(list.slice(0, MAX_NAMED_FILES))} and ${list.length - MAX_NAMED_FILES} more`
  const others = left.length > 0 ? ` These were left, because somebody else had changed them: ${names(left)}.` : ''
  const files = done.length === 0 ? 'no file had to be changed for it' : names(done)
  return `The person put files back ${target}: ${files}.${others} What commands did was not undone. Read a file again before you edit it.`
}

const MAX_NAMED_FILES = 30
