import { statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import type { Entry } from '../../session/log/entry.ts'
import type { Session } from '../../session/session.ts'
import type { Toolbox } from '../../tool/toolbox.ts'
import { createInstructionsReader } from './instructions-reader.ts'

/** No more than this many folders add instructions to a session. */
const MAX_FOLDERS = 20

/** Code of others, whose authors must not give instructions. */
const FOREIGN_FOLDERS = /^(?:node_modules|\.git|vendor|third_party|site-packages|\.venv|venv|target|dist|\..+)$/

/**
 * A toolbox that adds the instructions files of a subfolder once a tool has worked there, as notes that no compaction
 * removes.
 */
export function withNestedInstructions(toolbox: Toolbox, session: Session, folder: string): Toolbox {
  const intents = new Map<string, Entry & { readonly kind: 'intent' }>()
  const known = new Set<string>()
  let at = 0
  let count = 0

  function* findTouchedFolders(): Generator<string> {
    for (; at < session.entries.length; at++) {
      const entry = session.entries[at]
      if (entry?.kind === 'intent') intents.set(entry.call, entry)
      if (entry?.kind !== 'result') continue
      const intent = intents.get(entry.result.id)
      intents.delete(entry.result.id)
      if (intent && entry.result.status === 'ok') for (const path of listPaths(intent)) yield* listNewFolders(path)
    }
  }

  function listPaths({ name, input }: Entry & { readonly kind: 'intent' }): string[] {
    const found = toolbox.find(name)
    if (!('tool' in found)) return []
    try {
      return found.tool
        .effects(input, [folder])
        .flatMap((effect) => ('path' in effect ? [effect.path] : effect.kind === 'exec' ? [effect.folder] : []))
    } catch {
      return []
    }
  }

  /** The folders from below the workspace down to the path. */
  function listNewFolders(path: string): string[] {
    const full = resolve(folder, path)
    if (full === folder || !isInsideFolder(full, folder)) return []
    if (
      relative(folder, full)
        .split('/')
        .some((name) => FOREIGN_FOLDERS.test(name))
    )
      return []
    const folders: string[] = []
    for (let one = full; one !== folder && isInsideFolder(one, folder); one = dirname(one)) folders.unshift(one)
    return folders.filter((one) => !known.has(one) && isFolder(one) && known.add(one))
  }

  return {
    get specs() {
      return toolbox.specs
    },
    find: (name) => toolbox.find(name),
    validateInput: (tool, input, calledAs) => toolbox.validateInput(tool, input, calledAs),
    refresh() {
      const changes = toolbox.refresh?.()
      const pinned = [...(changes?.pinned ?? [])]
      const notices = [...(changes?.notices ?? [])]
      for (const touched of findTouchedFolders()) {
        if (count >= MAX_FOLDERS) continue
        const reader = createInstructionsReader()
        if (!reader.addFolder(touched, { within: folder, importsWithin: folder })) continue
        count++
        notices.push(...reader.notices)
        const name = relative(folder, touched)
        const texts = reader.files.map(
          ({ path, text }) => `Instructions from ${path}, for work in ${name}:\n${text.trim()}`,
        )
        if (texts.length > 0) pinned.push({ topic: `instructions ${name}`, text: texts.join('\n\n') })
      }
      return { ...changes, pinned, notices }
    },
    onRequestSent: () => toolbox.onRequestSent?.(),
  }
}

function isFolder(path: string): boolean {
  return tryOrUndefined(() => statSync(path, { throwIfNoEntry: false })?.isDirectory()) ?? false
}
