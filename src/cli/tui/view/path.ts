import { isAbsolute, relative } from 'node:path'
import { widthOf } from '../term/width.ts'
import { end } from './shorten.ts'

/** A path as a person knows it: from the folder they work in, if it is in there. */
export function pathFrom(root: string | undefined, path: string): string {
  if (root === undefined || !isAbsolute(path)) return path
  const inside = relative(root, path)
  if (inside === '') return '.'
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

/** A path in so many columns: what is left out is left out in the middle, so that the name of the file stays. */
export function shortPath(path: string, room: number): string {
  if (widthOf(path) <= room) return path
  const steps = path.split(/(?<!^)\//)
  const name = steps.pop() ?? ''
  // The folders nearest to the file say most; the first one says where all this is.
  const [first = '', ...rest] = steps
  for (let at = 0; at <= rest.length; at++) {
    const shown = [first, '…', ...rest.slice(at), name].join('/')
    if (steps.length > 1 && widthOf(shown) <= room) return shown
  }
  return widthOf(`…/${name}`) <= room ? `…/${name}` : `…${end(name, room - 1)}`
}
