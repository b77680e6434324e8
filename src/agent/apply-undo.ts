import type { Files } from '../host/host.ts'
import type { FileChange } from '../host/files/record-changes.ts'
import type { Session } from '../session/session.ts'
import type { Store } from '../session/store/store.ts'
import { createUndoEntry, type UndoPlan, type UndoStep } from '../session/undo-plan.ts'
import { defined } from '../model/defined.ts'
import { sha256Hex } from '../host/files/sha256.ts'

/** Records file changes: the previous content as a blob, and the change in the log, which is written before it is made. */
export function createChangeRecorder(
  session: Pick<Session, 'append' | 'flush'>,
  store: Store,
): (change: FileChange, isMade?: boolean) => Promise<void> {
  return async ({ path, before, after, folders }, isMade = false) => {
    const snapshot = before && { blob: await store.putBlob(before.bytes), mode: before.mode }
    session.append({
      kind: 'change',
      path,
      ...defined({ before: snapshot, after }),
      ...(folders.length > 0 && { folders }),
    })
    // What a command has changed reaches the disk with its result.
    if (!isMade) await session.flush()
  }
}

/**
 * What undo does with a file. `nothing`: it already has that content. `changed`: somebody else changed it. `lost`: its
 * previous content cannot be read any more.
 */
export type UndoAction = 'write' | 'remove' | 'nothing' | 'changed' | 'lost'

export interface UndoFile extends UndoStep {
  readonly action: UndoAction
}

export async function inspectUndoPlan(plan: UndoPlan, files: Files, store: Store): Promise<UndoFile[]> {
  const found: UndoFile[] = []
  for (const step of plan.steps) found.push({ ...step, action: await findUndoAction(step, files, store) })
  return found
}

/**
 * Restores files, and tells the model. `files` must record changes, so that an undo can be undone. With `force`, files that
 * somebody else changed are restored, too.
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
  const leftPaths = left.map(({ path }) => path)
  session.append(createUndoEntry(plan, since, leftPaths))
  session.append({ kind: 'note', text: formatUndoNote(plan, done, left) })
  await session.flush()
  return { done, left }
}

async function findUndoAction({ path, before, expected }: UndoStep, files: Files, store: Store): Promise<UndoAction> {
  const info = await files.info(path)
  const now = info?.kind === 'file' ? sha256Hex(await files.read(path)) : undefined
  if (info && info.kind !== 'file') return 'changed'
  if (now === before?.blob && (before === undefined || info?.mode === before.mode)) return 'nothing'
  if (before && (await store.getBlob(before.blob)) === undefined) return 'lost'
  if (!expected.includes(now)) return 'changed'
  return before ? 'write' : 'remove'
}

async function restoreFile({ path, before }: UndoStep, files: Files, store: Store): Promise<void> {
  const bytes = before && (await store.getBlob(before.blob))
  if (before && bytes) await files.write(path, bytes, { mode: before.mode })
  else if (!before && (await files.info(path)) !== undefined) await files.remove(path)
}

/** Removes the folders that were created for removed files, innermost first, if they are empty. */
async function removeEmptyFolders(steps: readonly UndoStep[], files: Files): Promise<void> {
  const createdFolders = new Set(steps.flatMap(({ before, folders }) => (before ? [] : folders)))
  for (const folder of [...createdFolders].sort().reverse()) {
    const entries = await files.list(folder).catch(() => undefined)
    if (entries?.length === 0) await files.remove(folder).catch(() => undefined)
  }
}

function formatUndoNote(
  { promptNumber, redo, commands }: UndoPlan,
  done: readonly UndoFile[],
  left: readonly UndoFile[],
): string {
  const target = redo === undefined ? `before message number ${promptNumber}` : 'before the last undo'
  const names = (list: readonly UndoFile[]): string =>
    list.length <= MAX_NAMED_FILES
      ? list.map(({ path }) => path).join(', ')
      : `${names(list.slice(0, MAX_NAMED_FILES))} and ${list.length - MAX_NAMED_FILES} more`
  const others =
    left.length > 0 ? ` These files were not restored, because somebody else had changed them: ${names(left)}.` : ''
  const files = done.length === 0 ? 'no file had to be changed' : names(done)
  const unknown = commands.length > 0 ? ' What commands changed was not undone.' : ''
  return `The user restored files to their state ${target}: ${files}.${others}${unknown} Read a file again before you edit it.`
}

const MAX_NAMED_FILES = 30
