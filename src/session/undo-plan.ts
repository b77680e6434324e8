import { joinTextParts } from '../model/text.ts'
import type { Entry, EntryBody, FileSnapshot } from './log/entry.ts'
import { defined } from '../model/defined.ts'

/** What it takes to put files back as they were. */
export interface UndoPlan {
  /** How often the person had spoken when the first of these changes was made. */
  readonly promptNumber: number
  /** What they had said. */
  readonly promptText: string
  readonly steps: readonly UndoStep[]
  /** Commands that ran since then. What they did is not undone. */
  readonly commands: readonly string[]
  /** The first entry that is undone. */
  readonly back: number
  /** The undo that this undoes. */
  readonly redo?: number
}

/** One file to put back. */
export interface UndoStep {
  readonly path: string
  /** What it was; absent if it was not there. */
  readonly before?: FileSnapshot
  /** Hashes of what it should be now; `undefined` is a file that is not there. Anything else is somebody else's work. */
  readonly expected: readonly (string | undefined)[]
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[]
}

/** How to go back to before a turn; without one, to before the last turn that changed something. */
export function createUndoPlan(entries: readonly Entry[], turn?: number): UndoPlan | undefined {
  const { changes, undone: isUndone, said: promptTexts, commands } = readChanges(entries)
  const activeChanges = changes.filter(({ entry }) => !isUndone(entry))
  const from = turn ?? activeChanges.at(-1)?.promptNumber
  const selectedChanges = activeChanges.filter((change) => from !== undefined && change.promptNumber >= from)
  const [first] = selectedChanges
  if (!first || from === undefined) return undefined
  return {
    promptNumber: first.promptNumber,
    promptText: promptTexts[first.promptNumber] ?? '',
    steps: createUndoSteps(selectedChanges, changes),
    commands: commands.flatMap((command) => (command.turn >= from ? [command.text] : [])),
    back: first.entry.seq,
  }
}

/** The commands that ran since a turn; without one, since the session began. No undo knows what they changed. */
export function commandsSince(entries: readonly Entry[], turn = 0): string[] {
  return readChanges(entries).commands.flatMap((command) => (command.turn >= turn ? [command.text] : []))
}

/** How to take the last undo back, if nothing was changed since. */
export function createRedoPlan(entries: readonly Entry[]): UndoPlan | undefined {
  const { changes, marks: undoEntries, undone: isUndone, said: promptTexts } = readChanges(entries)
  const last = undoEntries.findLast(
    (undoRecord) => undoRecord.redo === undefined && !undoEntries.some(({ redo }) => redo === undoRecord.seq),
  )
  if (!last || changes.some(({ entry }) => entry.seq > last.seq && !isUndone(entry))) return undefined
  const selectedChanges = changes.filter(({ entry }) => entry.seq > last.since && entry.seq < last.seq)
  const [first] = changes.filter(({ entry }) => entry.seq >= last.back)
  const turn = first?.promptNumber ?? 0
  return {
    promptNumber: turn,
    promptText: promptTexts[turn] ?? '',
    steps: createUndoSteps(selectedChanges, changes),
    commands: [],
    back: selectedChanges[0]?.entry.seq ?? last.seq,
    redo: last.seq,
  }
}

/** The entry that says that a plan was carried out; `since` is the last entry before that began, `left` the files that were not put back. */
export function createUndoEntry({ back, redo }: UndoPlan, since: number, left: readonly string[]): EntryBody {
  return { kind: 'undo', back, since, ...defined({ redo }), ...(left.length > 0 && { left }) }
}

interface LoggedChange {
  readonly entry: Entry & { kind: 'change' }
  readonly promptNumber: number
}

function readChanges(entries: readonly Entry[]) {
  const changes: LoggedChange[] = []
  const promptTexts: string[] = ['']
  const commands: { readonly turn: number; readonly text: string }[] = []
  for (const entry of entries) {
    const turn = promptTexts.length - 1
    if (entry.kind === 'user') promptTexts.push(joinTextParts(entry.parts))
    else if (entry.kind === 'change') changes.push({ entry, promptNumber: turn })
    else if (entry.kind === 'intent' && typeof entry.input['command'] === 'string')
      commands.push({ turn, text: entry.input['command'] })
  }
  const undoEntries = entries.filter((entry) => entry.kind === 'undo')
  const redone = new Set(undoEntries.flatMap(({ redo }) => redo ?? []))
  const isUndone = ({ seq, path }: LoggedChange['entry']): boolean =>
    undoEntries.some((undoRecord) => {
      if (seq > undoRecord.seq) return false
      // Its own work never counts as the agent's; what it undid does again when it was redone.
      if (seq > undoRecord.since) return true
      const holds = undoRecord.redo === undefined && !redone.has(undoRecord.seq)
      return holds && seq >= undoRecord.back && !undoRecord.left?.includes(path)
    })
  return { changes, marks: undoEntries, undone: isUndone, said: promptTexts, commands }
}

/** The first of the chosen changes of each file says what it was; the last of all what it should be now. */
function createUndoSteps(selectedChanges: readonly LoggedChange[], all: readonly LoggedChange[]): UndoStep[] {
  const last = new Map(all.map(({ entry }) => [entry.path, entry]))
  const steps = new Map<string, UndoStep>()
  for (const { entry } of selectedChanges) {
    const { path, folders = [] } = entry
    const existingStep = steps.get(path)
    const snapshot = existingStep ? existingStep.before : entry.before
    const now = last.get(path) ?? entry
    steps.set(path, {
      path,
      ...defined({ before: snapshot }),
      // A crash may have come between the keeping and the writing.
      expected: [now.after, now.before?.blob],
      folders: [...(existingStep?.folders ?? []), ...folders],
    })
  }
  return [...steps.values()]
}
