import type { Files, FolderEntry, VisitedFolder } from '../../host/host.ts'
import { type IgnoreOptions, type IgnoreRules, loadIgnoreRules } from './ignore-rules.ts'

export interface WalkOptions {
  readonly folder: string
  /** The workspace folder above it, whose ignore files count too. */
  readonly top: string
  readonly ignoreOptions: IgnoreOptions
  readonly excludedFolders: readonly string[]
  /** Tested before the ignore rules. */
  readonly isWanted: (folder: string, name: string) => boolean
  readonly signal?: AbortSignal
}

/** Visits all wanted files below a folder that are not ignored; returns how many wanted ones were ignored. */
export async function walkFiles(
  files: Files,
  options: WalkOptions,
  visit: (path: string, folder: VisitedFolder, name: string) => unknown,
): Promise<number> {
  const { folder, top, ignoreOptions, excludedFolders, isWanted, signal } = options
  const rulesIn = new WeakMap<VisitedFolder, IgnoreRules>()
  let ignored = 0
  const rules = await loadIgnoreRules(files, top, folder, ignoreOptions)

  function visitFolder(view: VisitedFolder, currentRules: IgnoreRules): string[] | Promise<string[]> {
    const enter: string[] = []
    const waiting: Promise<unknown>[] = []
    for (const { name, kind } of view.entries) {
      // Most entries are files that are not wanted.
      if (kind === 'file') {
        if (!isWanted(view.path, name)) continue
        const path = `${view.path}/${name}`
        if (currentRules.mayIgnore(name) && currentRules.ignores(path, false)) {
          ignored++
          continue
        }
        const work = visit(path, view, name)
        if (work instanceof Promise) waiting.push(work)
      } else if (kind === 'folder' && !excludedFolders.includes(name)) {
        if (!currentRules.mayIgnore(name) || !currentRules.ignores(`${view.path}/${name}`, true)) enter.push(name)
      }
    }
    if (enter.length > 0) rulesIn.set(view, currentRules)
    return waiting.length === 0 ? enter : Promise.all(waiting).then(() => enter)
  }

  await files.walk(
    folder,
    (view) => {
      const outer = view.parent && rulesIn.get(view.parent)
      const folderRules = outer?.enter(view.path, view.entries) ?? rules
      return folderRules instanceof Promise
        ? folderRules.then((currentRules) => visitFolder(view, currentRules))
        : visitFolder(view, folderRules)
    },
    signal,
  )
  return ignored
}

export function removeIgnoredEntries(
  rules: IgnoreRules,
  folder: string,
  entries: readonly FolderEntry[],
): FolderEntry[] {
  return entries.filter(
    ({ name, kind }) => !(rules.mayIgnore(name) && rules.ignores(`${folder}/${name}`, kind === 'folder')),
  )
}
