import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expandHome } from '../../paths/folders.ts'
import { isMediaFile } from './attachments.ts'
import { type EditorState, applyEditorEdit } from '../input/text-editor.ts'
import { formatMention } from './mentions.ts'
import { toRootRelativePath } from '../view/display-path.ts'

/**
 * A terminal pastes the paths of files that are dropped on it. If these are images, mentions replace the pasted paths, so
 * that the images are attached. One undo restores the pasted text.
 */
export function insertDroppedFiles(editor: EditorState, pasted: string, folder: string): EditorState {
  const before = editor.text.slice(0, editor.cursor)
  if (!before.endsWith(pasted)) return editor
  const paths = parseDroppedImages(pasted)
  if (paths.length === 0 || paths.some((path) => path.includes('"'))) return editor
  const start = before.slice(0, before.length - pasted.length)
  const gap = start === '' || /\s$/.test(start) ? '' : ' '
  const head = `${start}${gap}${paths.map((path) => `${formatMention(toRootRelativePath(folder, path))} `).join('')}`
  return applyEditorEdit(editor, { do: 'set', text: head + editor.text.slice(editor.cursor), cursor: head.length })
}

/** The images that a pasted text names, if it names nothing else: quoted, with or without escaped spaces, or as `file:` URLs. */
function parseDroppedImages(text: string): string[] {
  const whole = text.trim()
  if (!/^(?:["']|\/|~\/|file:|[A-Za-z]:\\)/.test(whole) || whole.includes('\n')) return []
  const readings = [[whole], splitShellWords(whole)]
  return readings.map((names) => names.map(toPath)).find((paths) => paths.every(isImageFile)) ?? []
}

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
