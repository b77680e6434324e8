import type { Files, FolderEntry, FolderView } from '../../host/host.ts'
import { type Respect, type Rules, rulesFor } from './ignore-rules.ts'

/** Where to walk, and what to leave out. */
export interface TreeOptions {
  readonly folder: string
  /** The workspace folder above it, whose ignore files count too. */
  readonly top: string
  readonly respect: Respect
  /** Names of folders to leave out, wherever they are. */
  readonly without: readonly string[]
  /** Is this file wanted? Asked before anything is asked about being ignored. */
  readonly wanted: (folder: string, name: string) => boolean
  readonly signal?: AbortSignal
}

/** Shows all wanted files below a folder that are not ignored; gives how many wanted ones were ignored. */
export async function walkTree(
  files: Files,
  options: TreeOptions,
  visit: (path: string, folder: FolderView, name: string) => unknown,
): Promise<number> {
  const { folder, top, respect, without, wanted, signal } = options
  // The rules of a folder, for those that are in it.
  const rulesIn = new WeakMap<FolderView, Rules>()
  let ignored = 0
  const rules = await rulesFor(files, top, folder, respect)

  function look(view: FolderView, here: Rules): string[] | Promise<string[]> {
    const enter: string[] = []
    const waiting: Promise<unknown>[] = []
    for (const { name, kind } of view.entries) {
      if (kind === 'folder') {
        if (without.includes(name) || (here.mayIgnore(name) && here.ignores(`${view.path}/${name}`, true))) continue
        enter.push(name)
      } else if (kind === 'file' && wanted(view.path, name)) {
        const path = `${view.path}/${name}`
        if (here.mayIgnore(name) && here.ignores(path, false)) {
          ignored++
          continue
        }
        const work = visit(path, view, name)
        if (work instanceof Promise) waiting.push(work)
      }
    }
    if (enter.length > 0) rulesIn.set(view, here)
    return waiting.length === 0 ? enter : Promise.all(waiting).then(() => enter)
  }

  await files.walk(
    folder,
    (view) => {
      const outer = view.above && rulesIn.get(view.above)
      const own = outer?.enter(view.path, view.entries) ?? rules
      return own instanceof Promise ? own.then((here) => look(view, here)) : look(view, own)
    },
    signal,
  )
  return ignored
}

/** The entries of one folder, without those that are ignored. */
export function visible(rules: Rules, folder: string, entries: readonly FolderEntry[]): FolderEntry[] {
  return entries.filter(
    ({ name, kind }) => !(rules.mayIgnore(name) && rules.ignores(`${folder}/${name}`, kind === 'folder')),
  )
}
