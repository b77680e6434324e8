import { dirname, relative, resolve } from 'node:path'
import { isInsideFolder } from '../../model/inside-folder.ts'
import type { CallPart } from '../../model/turn.ts'
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
  const calls = new Map<string, CallPart>()
  const known = new Set<string>()
  let at = 0
  let count = 0

  function* findTouchedFolders(): Generator<string> {
    for (; at < session.entries.length; at++) {
      const entry = session.entries[at]
      if (entry?.kind === 'turn')
        for (const part of entry.turn.parts) if (part.kind === 'call') calls.set(part.id, part)
      if (entry?.kind !== 'result' || entry.result.status !== 'ok') continue
      const call = calls.get(entry.result.id)
      calls.delete(entry.result.id)
      for (const path of call ? listPaths(call) : []) yield* listNewFolders(path)
    }
  }

  function listPaths(call: CallPart): string[] {
    const found = toolbox.find(call.name)
    if (!('tool' in found) || !call.input) return []
    try {
      const valid = toolbox.validateInput(found.tool, call.input, call.name)
      const effects = 'input' in valid ? found.tool.effects(valid.input, [folder]) : []
      return effects.flatMap((effect) =>
        'path' in effect ? [effect.path] : effect.kind === 'exec' ? [effect.folder] : [],
      )
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
    return folders.filter((one) => !known.has(one) && known.add(one))
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
