import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expandHome } from '../../paths/folders.ts'
import { isMediaFile } from './attachments.ts'
import { type EditorState, applyEdit } from '../input/text-editor.ts'
import { formatMention } from './mentions.ts'
import { relativeToRoot } from '../view/path.ts'

/**
 * A terminal pastes the paths of files that are dropped on it. Where these are pictures, their mentions take the place of
 * what was just pasted, so that they go along; one step of undo brings the plain text back.
 */
export function insertDroppedFiles(editor: EditorState, pasted: string, folder: string): EditorState {
  const before = editor.text.slice(0, editor.cursor)
  if (!before.endsWith(pasted)) return editor
  const paths = parseDroppedImages(pasted)
  if (paths.length === 0 || paths.some((path) => path.includes('"'))) return editor
  const start = before.slice(0, before.length - pasted.length)
  const gap = start === '' || /\s$/.test(start) ? '' : ' '
  const head = `${start}${gap}${paths.map((path) => `${formatMention(relativeToRoot(folder, path))} `).join('')}`
  return applyEdit(editor, { do: 'set', text: head + editor.text.slice(editor.cursor), cursor: head.length })
}

/** The pictures that a pasted text names, if it names nothing else: quoted, with escaped or bare spaces, or as `file:` addresses. */
export function parseDroppedImages(text: string): string[] {
  const whole = text.trim()
  if (!/^(?:["']|\/|~\/|file:|[A-Za-z]:\\)/.test(whole) || whole.includes('\n')) return []
  const readings = [[whole], splitShellWords(whole)]
  return readings.map((names) => names.map(toPath)).find((paths) => paths.every(isImageFile)) ?? []
}

/** Words as a shell reads them. */
function splitShellWords(text: string): string[] {
  return (text.match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? []).map((word) =>
    word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_whole, one?: string, two?: string, three?: string) =>
      String(one ?? two ?? three),
    ),
  )
}

function toPath(name: string): string {
  try {
    if (name.startsWith('file:')) return fileURLToPath(name)
  } catch {
    return name
  }
  return expandHome(name)
}

function isImageFile(path: string): boolean {
  return isAbsolute(path) && isMediaFile(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
