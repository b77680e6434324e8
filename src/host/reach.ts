import { readlinkSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { hiddenIn } from '../model/hidden.ts'
import { type Grip, grip, whereIs } from './grip.ts'
import { errorCode, HostProblem, systemProblem } from './problem.ts'
import { fromRaw, toRaw } from './raw-name.ts'
import { type Root, type Roots, stepsOf } from './roots.ts'

/** Where a path led. Everything here is held until the use of it is over. */
export interface Reached {
  /** The real path, all links followed. */
  readonly path: string
  /** What is there, if anything is. */
  readonly found: Grip | undefined
  /** The folder that it is in, or the last one that exists; none if the path is an allowed folder itself. */
  readonly folder: Grip | undefined
  /** Its name in that folder, and after it the names that would have to be made. */
  readonly names: readonly string[]
  /** Takes hold of something more, for as long as the rest is held. */
  readonly hold: (at: string) => Grip
  /** Keeps one grip beyond the use; whoever keeps it releases it. */
  readonly keep: (held: Grip) => Grip
}

/** What is to be done there. `linkItself` takes a link in the last place for what it is, instead of following it. */
export interface Need {
  readonly need: 'read' | 'write'
  readonly linkItself?: true
}

/**
 * Goes to a path step by step, holding each folder while the next name is looked up in it. Links are followed by hand:
 * where one leads is judged like a path that was given. So no exchange of names on the way can lead out.
 */
export function reach<T>(roots: Roots, path: string, need: Need, use: (reached: Reached) => T): T {
  check(path)
  const held = new Set<Grip>()
  const hold = (at: string): Grip => {
    const taken = grip(at)
    held.add(taken)
    return taken
  }
  try {
    const place = walk(roots, path, need, hold)
    roots.judge(place.path, need.need)
    const keep = (kept: Grip): Grip => {
      held.delete(kept)
      return kept
    }
    return use({ ...place, hold, keep })
  } catch (error) {
    throw systemProblem(error, path)
  } finally {
    for (const taken of held) taken.release()
  }
}

type Place = Omit<Reached, 'hold' | 'keep'>

function walk(roots: Roots, path: string, { need, linkItself }: Need, hold: (at: string) => Grip): Place {
  let { root, todo } = begin(roots, path)
  let trail = [enter(root, hold)]
  let names: string[] = []
  let links = 0
  const jump = (to: string): void => {
    ;({ root, todo } = begin(roots, to))
    trail = [enter(root, hold)]
    names = []
  }
  const here = (more: readonly string[] = []): string => joined(root.real, [...names, ...more])

  for (;;) {
    const name = todo.shift()
    if (name === undefined) break
    if (name === '..') {
      if (names.length === 0) jump(joined(dirname(root.real), todo))
      else {
        names.pop()
        trail.pop()
      }
      continue
    }
    const folder = trail.at(-1) as Grip
    if (!folder.stats.isDirectory()) throw new HostProblem('not-folder', `Not a folder: ${here()}`)
    const next = lookUp(`${folder.at}/${name}`, hold)
    if (next === undefined) {
      if (todo.includes('..')) throw new HostProblem('not-found', `File not found: ${here([name])}`)
      if (need === 'write') demandVisible([...names, name, ...todo])
      return { path: here([name, ...todo]), found: undefined, folder, names: [name, ...todo] }
    }
    if (!next.stats.isSymbolicLink() || (linkItself && todo.length === 0)) {
      names.push(name)
      trail.push(next)
      continue
    }
    // What was judged had no links in it, so somebody has put this one there since.
    if (root.isFixed && root.only) throw moved(here([name]))
    if (++links > MAX_LINKS) throw new HostProblem('link-loop', `Too many links, or a loop of links: ${path}`)
    const target = fromRaw(readlinkSync(toRaw(`${folder.at}/${name}`), 'buffer'))
    if (isAbsolute(target)) jump(joined(target, todo))
    else todo.unshift(...stepsOf(target))
  }
  if (need === 'write' && !linkItself) demandVisible(names)
  const folder = trail.at(-2)
  return { path: here(), found: trail.at(-1), folder, names: names.slice(-1) }
}

/** As many as Linux itself follows. */
const MAX_LINKS = 40

function begin(roots: Roots, path: string): { root: Root; todo: string[] } {
  const { root, steps } = roots.locate(path)
  return { root, todo: [...steps] }
}

function enter(root: Root, hold: (at: string) => Grip): Grip {
  const folder = hold(root.real)
  if (root.isFixed && (whereIs(folder) ?? realpathSync(root.real)) !== root.real) throw moved(root.real)
  if (folder.stats.isDirectory()) return folder
  throw new HostProblem('not-folder', `Not a folder any more: ${root.real}`)
}

/** What a terminal would draw as another name is not written; it may be removed. */
function demandVisible(names: readonly string[]): void {
  for (const name of names) {
    const hidden = hiddenIn(name, { lines: false, bytes: true })
    if (hidden !== undefined)
      throw new HostProblem('bad-path', `A name in the path contains ${hidden}: ${JSON.stringify(name)}`)
  }
}

function moved(path: string): HostProblem {
  return new HostProblem('moved', `This is not any more what was judged, so it was not opened: ${path}`)
}

function lookUp(at: string, hold: (at: string) => Grip): Grip | undefined {
  try {
    return hold(at)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function joined(start: string, steps: readonly string[]): string {
  return [start === '/' ? '' : start, ...steps].join('/') || '/'
}

function check(path: string): void {
  if (!isAbsolute(path)) throw new HostProblem('bad-path', `The path must be absolute: ${path}`)
  if (path.includes('\0')) throw new HostProblem('bad-path', 'The path contains a zero byte.')
  if (Buffer.byteLength(path) > 4096) throw new HostProblem('bad-path', 'The path is longer than any disk allows.')
}
