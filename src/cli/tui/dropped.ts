import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { untilde } from '../own/places.ts'
import { isMedia } from './attach.ts'
import { type Editor, edit } from './input/editor.ts'
import { mention } from './mention.ts'
import { pathFrom } from './view/path.ts'

/**
 * A terminal pastes the paths of files that are dropped on it. Where these are pictures, their mentions take the place of
 * what was just pasted, so that they go along; one step of undo brings the plain text back.
 */
export function withDropped(editor: Editor, pasted: string, folder: string): Editor {
  const before = editor.text.slice(0, editor.cursor)
  if (!before.endsWith(pasted)) return editor
  const paths = droppedImages(pasted)
  if (paths.length === 0 || paths.some((path) => path.includes('"'))) return editor
  const start = before.slice(0, before.length - pasted.length)
  const gap = start === '' || /\s$/.test(start) ? '' : ' '
  const head = `${start}${gap}${paths.map((path) => `${mention(pathFrom(folder, path))} `).join('')}`
  return edit(editor, { do: 'set', text: head + editor.text.slice(editor.cursor), cursor: head.length })
}

/** The pictures that a pasted text names, if it names nothing else: quoted, with escaped or bare spaces, or as `file:` addresses. */
export function droppedImages(text: string): string[] {
  const whole = text.trim()
  if (!/^(?:["']|\/|~\/|file:|[A-Za-z]:\\)/.test(whole) || whole.includes('\n')) return []
  const readings = [[whole], words(whole)]
  return readings.map((names) => names.map(asPath)).find((paths) => paths.every(isPicture)) ?? []
}

/** Words as a shell reads them. */
function words(text: string): string[] {
  return (text.match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? []).map((word) =>
    word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_whole, one?: string, two?: string, three?: string) =>
      String(one ?? two ?? three),
    ),
  )
}

function asPath(name: string): string {
  try {
    if (name.startsWith('file:')) return fileURLToPath(name)
  } catch {
    return name
  }
  return untilde(name)
}

function isPicture(path: string): boolean {
  return isAbsolute(path) && isMedia(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
