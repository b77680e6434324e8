import { isAbsolute, relative } from 'node:path'
import { displayWidth } from '../term/display-width.ts'
import { keepLastColumns } from './shorten.ts'

/** A path relative to the workspace, if it is inside. */
export function toRootRelativePath(root: string | undefined, path: string): string {
  if (root === undefined || !isAbsolute(path)) return path
  const inside = relative(root, path)
  if (inside === '') return '.'
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

/** Shortens a path in the middle, so that the name of the file stays. */
export function shortenPath(path: string, columns: number): string {
  if (displayWidth(path) <= columns) return path
  const steps = path.split(/(?<!^)\//)
  const name = steps.pop() ?? ''
  // The first folder, and those nearest to the file, say most.
  const [first = '', ...rest] = steps
  for (let at = 0; at <= rest.length; at++) {
    const shown = [first, '…', ...rest.slice(at), name].join('/')
    if (steps.length > 1 && displayWidth(shown) <= columns) return shown
  }
  return displayWidth(`…/${name}`) <= columns ? `…/${name}` : `…${keepLastColumns(name, columns - 1)}`
}
