import { textOf } from '../model/text.ts'
import type { Entry, EntryBody, Kept } from './entry.ts'

/** What it takes to put files back as they were. */
export interface UndoPlan {
  /** How often the person had spoken when the first of these changes was made. */
  readonly turn: number
  /** What they had said. */
  readonly said: string
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
  readonly before?: Kept
  /** Hashes of what it should be now; `undefined` is a file that is not there. Anything else is somebody else's work. */
  readonly expected: readonly (string | undefined)[]
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[]
}

/** How to go back to before a turn; without one, to before the last turn that changed something. */
export function undoPlan(entries: readonly Entry[], turn?: number): UndoPlan | undefined {
  const { changes, undone, said, commands } = readChanges(entries)
  const live = changes.filter(({ entry }) => !undone(entry))
  const from = turn ?? live.at(-1)?.turn
  const chosen = live.filter((change) => from !== undefined && change.turn >= from)
  const [first] = chosen
  if (!first || from === undefined) return undefined
  return {
    turn: first.turn,
    said: said[first.turn] ?? '',
    steps: stepsOf(chosen, changes),
    commands: commands.flatMap((command) => (command.turn >= from ? [command.text] : [])),
    back: first.entry.seq,
  }
}

/** The commands that ran since a turn; without one, since the session began. No undo knows what they changed. */
export function commandsSince(entries: readonly Entry[], turn = 0): string[] {
  return readChanges(entries).commands.flatMap((command) => (command.turn >= turn ? [command.text] : []))
}

/** How to take the last undo back, if nothing was changed since. */
export function redoPlan(entries: readonly Entry[]): UndoPlan | undefined {
  const { changes, marks, undone, said } = readChanges(entries)
  const last = marks.findLast((mark) => mark.redo === undefined && !marks.some(({ redo }) => redo === mark.seq))
  if (!last || changes.some(({ entry }) => entry.seq > last.seq && !undone(entry))) return undefined
  const chosen = changes.filter(({ entry }) => entry.seq > last.since && entry.seq < last.seq)
  const [first] = changes.filter(({ entry }) => entry.seq >= last.back)
  const turn = first?.turn ?? 0
  return {
    turn,
    said: said[turn] ?? '',
    steps: stepsOf(chosen, changes),
    commands: [],
    back: chosen[0]?.entry.seq ?? last.seq,
    redo: last.seq,
  }
}

/** The entry that says that a plan was carried out; `since` is the last entry before that began, `left` the files that were not put back. */
export function undoEntry({ back, redo }: UndoPlan, since: number, left: readonly string[]): EntryBody {
  return { kind: 'undo', back, since, ...(redo !== undefined && { redo }), ...(left.length > 0 && { left }) }
}

interface Change {
  readonly entry: Entry & { kind: 'change' }
  readonly turn: number
}

function readChanges(entries: readonly Entry[]) {
  const changes: Change[] = []
  const said: string[] = ['']
  const commands: { readonly turn: number; readonly text: string }[] = []
  for (const entry of entries) {
    const turn = said.length - 1
    if (entry.kind === 'user') said.push(textOf(entry.parts))
    else if (entry.kind === 'change') changes.push({ entry, turn })
    else if (entry.kind === 'intent' && typeof entry.input['command'] === 'string')
      commands.push({ turn, text: entry.input['command'] })
  }
  const marks = entries.filter((entry) => entry.kind === 'undo')
  const redone = new Set(marks.flatMap(({ redo }) => redo ?? []))
  const undone = ({ seq, path }: Change['entry']): boolean =>
    marks.some((mark) => {
      if (seq > mark.seq) return false
      // Its own work never counts as the agent's; what it undid does again when it was redone.
      if (seq > mark.since) return true
      const holds = mark.redo === undefined && !redone.has(mark.seq)
      return holds && seq >= mark.back && !mark.left?.includes(path)
    })
  return { changes, marks, undone, said, commands }
}

/** The first of the chosen changes of each file says what it was; the last of all what it should be now. */
function stepsOf(chosen: readonly Change[], all: readonly Change[]): UndoStep[] {
  const last = new Map(all.map(({ entry }) => [entry.path, entry]))
  const steps = new Map<string, UndoStep>()
  for (const { entry } of chosen) {
    const { path, folders = [] } = entry
    const known = steps.get(path)
    const was = known ? known.before : entry.before
    const now = last.get(path) ?? entry
    steps.set(path, {
      path,
      ...(was && { before: was }),
      // A crash may have come between the keeping and the writing.
      expected: [now.after, now.before?.blob],
      folders: [...(known?.folders ?? []), ...folders],
    })
  }
  return [...steps.values()]
}
